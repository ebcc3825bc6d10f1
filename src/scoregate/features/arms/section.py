"""One sentence for each skill or other file for agents: what it changes, and what this change does to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from scoregate.features.arms.comparison import ArmComparison, TriggerRate
from scoregate.features.arms.keys import EFFECTS
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.report.result_json import to_row_data
from scoregate.kernel.report.text import display_name, one_line
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.arms import EXPECTATIONS
from scoregate.kernel.types.slots import Place, Section

if TYPE_CHECKING:
    from scoregate.kernel.report.view import ReportView

_LONGEST_SUITE, _LONGEST_REASON, _LONGEST_SENTENCE = 120, 200, 600
_MOST = 12


@record
class ArmView:
    """What a skill changes, and what the change does to it, as text."""

    suite: str
    sentence: str
    comparison: ArmComparison
    change: Row | None = None


def build_sections(judged: Judged) -> Iterator[Section]:
    """The section of a comparison."""
    comparison = judged.comparison
    compared = comparison.slots.get(EFFECTS)
    arms = tuple(build_arms(compared or (), comparison.rows))
    if not arms:
        yield Section("arms", Place.ROWS)
        return
    yield Section(
        "arms",
        Place.ROWS,
        title="With and without",
        anchor="arms",
        content=arms,
        comment="features/arms/comment.md.j2",
        page="features/arms/page.html.j2",
        terminal=partial(_list_arms, arms),
        data={"arms": [arm_data(arm) for arm in arms]},
    )


def _list_arms(arms: Sequence[ArmView], _: ReportView, full: bool, rest: str) -> Iterator[Any]:
    from rich.text import Text

    from scoregate.kernel.report.console_text import hanging_indent, more_line, safe_text

    most = len(arms) if full else _MOST
    for arm in arms[:most]:
        yield hanging_indent(Text(f"{arm.suite}:", style="bold"), Text(safe_text(arm.sentence, _LONGEST_SENTENCE)))
    yield from (*more_line(len(arms) - most, "skill", rest), Text())


def build_arms(comparisons: Iterable[ArmComparison], rows: Iterable[Row]) -> Iterator[ArmView]:
    """Build the sentence of each suite with arms.

    Args:
        comparisons: the effects.
        rows: the rows of the comparison with the base, which has its version of the arms.
    """
    without_base = (RowLabel.NEW, RowLabel.REMOVED)
    changes = {row.suite: row for row in rows if row.evaluator == EXPECTATIONS and row.label not in without_base}
    for each in comparisons:
        change = changes.get(each.suite)
        text = "; ".join(_list_parts(each, change))
        yield ArmView(display_name(each.suite, _LONGEST_SUITE), text, each, change)


def _list_parts(comparison: ArmComparison, change: Row | None) -> Iterator[str]:
    if comparison.effect is not None:
        other = "running without it" + (" (results of the base's run)" if comparison.carried else "")
        yield _describe_effect(comparison.effect, other)
    if change is not None:
        yield _describe_change(change)
    if triggers := ", and ".join(_list_triggers(comparison)):
        yield f"triggers {triggers}"
    if comparison.extra_tokens is not None:
        judge = ", those of the judge included" if comparison.graded_by_model else ""
        yield f"{_format_tokens(comparison.extra_tokens)} per case{judge}"


def _describe_effect(row: Row, other: str) -> str:
    if row.delta is None or row.label in (RowLabel.UNMEASURABLE, RowLabel.NOT_COMPARABLE):
        return f"its effect can't be measured: {one_line(row.reason or str(row.label), _LONGEST_REASON)}"
    size = _format_size(row)
    match row.label:
        case RowLabel.BETTER:
            return f"helps {size} compared with {other}"
        case RowLabel.WORSE:
            return f"harms {size} compared with {other}"
        case RowLabel.EQUIVALENT | RowLabel.UNCHANGED:
            return f"makes no difference, {size} compared with {other}"
        case RowLabel.TOO_FEW:
            return f"{size} compared with {other}, too few cases to be certain"
    return f"{size} compared with {other}, within noise"


def _describe_change(row: Row) -> str:
    if row.label is RowLabel.UNAFFECTED:
        return "this change does not affect it"
    if row.delta is None:
        return f"this change can't be measured: {one_line(row.reason or str(row.label), _LONGEST_REASON)}"
    label = "too few cases to be certain" if row.label is RowLabel.TOO_FEW else str(row.label)
    return f"this change {_format_size(row)}, {label}"


def _format_size(row: Row) -> str:
    size = number_format.percentage_points(row.delta or 0.0).removesuffix(" pp") + " pp"  # also after ±0
    interval = row.estimate.interval
    return size if interval is None else f"{size} {number_format.percentage_point_interval(*interval)}"


def _format_tokens(number: float) -> str:
    tokens = round(number)
    return f"{'−' if tokens < 0 else '+'}{abs(tokens):,} tokens" if tokens else "as many tokens"


def _list_triggers(comparison: ArmComparison) -> Iterator[str]:
    for rate, where in ((comparison.wanted, "it should"), (comparison.unwanted, "it should not")):
        if rate is not None:
            yield f"in {_format_rate(rate, 'trial' if comparison.repeated else 'case')} where {where}"


def _format_rate(rate: TriggerRate, unit: str) -> str:
    return f"{rate.triggered:,} of {number_format.count(rate.trials, unit)}"


def arm_data(arm: ArmView) -> dict[str, Any]:
    """A comparison as dicts, lists, strings and numbers, for JSON."""
    each = arm.comparison
    return {
        "suite": each.suite,
        "sentence": arm.sentence,
        "effect": _row_data(each.effect),
        "change": _row_data(arm.change),
        "extra_tokens": each.extra_tokens,
        "triggered": None if each.wanted is None else asdict(each.wanted),
        "triggered_unwanted": None if each.unwanted is None else asdict(each.unwanted),
    }


def _row_data(row: Row | None) -> dict[str, Any] | None:
    return None if row is None else to_row_data(row, ("label", "mean", "base", "delta", "low", "high", "n", "p", "q"))
