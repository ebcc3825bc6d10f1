"""What reports say about the cause of a drop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pydantic_core import to_jsonable_python

from scoregate.features.interventions.cause.explanation import EXPLANATION, Explanation, RevertedLines
from scoregate.kernel.judge.judgement import Judged
from scoregate.kernel.report.text import display_name, shorten_list
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.slots import Place, Section

if TYPE_CHECKING:
    from rich.console import RenderableType


def build_sections(judged: Judged) -> Iterator[Section]:
    """The cause of a drop, if it was sought: next to the gates that fail for it."""
    found = judged.comparison.run.slots.get(EXPLANATION)
    if found is None:
        return
    cause = tuple(describe_explanation(found))
    yield Section(
        "interventions",
        Place.GATES,
        title="Cause",
        anchor="cause",
        content=cause,
        comment="features/interventions/cause/comment.md.j2",
        page="features/interventions/cause/page.html.j2",
        terminal=partial(_print_cause, cause),
        data=to_jsonable_python(found),
    )
    yield Section("interventions", Place.END, sentences=tuple(describe_trials(found)))


def _print_cause(cause: Sequence[str], *_: object) -> Iterator[RenderableType]:
    from rich.text import Text

    from scoregate.kernel.report.console_text import hanging_indent, safe_text

    for sentence in cause:
        yield hanging_indent(Text("→", style="bold"), Text(safe_text(sentence), style="bold"))


def describe_explanation(found: Explanation) -> Iterator[str]:
    """The cause of a drop in sentences, or why it is not known."""
    if not found.changes:
        yield f"The cause of the drop is not known: {found.reason}."
    else:
        places, p = _list_places(found.changes), number_format.p_value(found.p)
        restores = f"restores {_count_restored(found)}" if found.restored else "makes cases pass more often"
        yield f"Reverting {places} {restores} ({p}).{_describe_others(found)}"
        if found.breaks_others:
            yield f"Without {places}, other cases fail."
    if found.not_reverted:
        names = shorten_list([display_name(each) for each in found.not_reverted])
        yield f"Also changed, and not reverted here: {names}."


def describe_trials(found: Explanation) -> Iterator[str]:
    """What the search has cost; nothing if no trial ran."""
    if found.trials:
        yield f"The search for the cause ran {number_format.count(found.trials, 'trial')}."


def _count_restored(found: Explanation) -> str:
    tried = f" that were tried, of {found.fell:,} that fell" if found.cases < found.fell else ""
    return f"{found.restored:,} of {found.cases:,} cases{tried}"


def _describe_others(found: Explanation) -> str:
    if found.others:
        return f" Reverting {_list_places(found.others)} restores them as well: both together cause the drop."
    return " No other change does." if found.is_only else ""


def _list_places(changes: Sequence[RevertedLines]) -> str:
    places = []
    for file in dict.fromkeys(each.file for each in changes):
        lines = [_describe_lines(each) for each in changes if each.file == file and each.last]
        name = display_name(file)
        places.append(f"{name} {'line' if _is_single(lines) else 'lines'} {', '.join(lines)}" if lines else name)
    return " and ".join(places)


def _describe_lines(change: RevertedLines) -> str:
    return f"{change.first}" if change.first == change.last else f"{change.first}–{change.last}"


def _is_single(lines: Sequence[str]) -> bool:
    return len(lines) == 1 and "–" not in lines[0]
