"""What reports say about slices: their rows, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from scoregate.features.slices.cases import slice_name
from scoregate.features.slices.keys import TABLE, SliceTable
from scoregate.features.slices.view import SliceView, build_slices
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.gate import Verdict
from scoregate.kernel.report.heading import is_unwatched, list_warned
from scoregate.kernel.report.result_json import MEANS, TESTS, to_row_data
from scoregate.kernel.report.text import display_name, shorten_list
from scoregate.kernel.types.slots import Place, Section, UnwatchedDrop

if TYPE_CHECKING:
    from scoregate.kernel.judge.judgement import Judged
    from scoregate.kernel.report.view import ReportView

_MAX_NAME = 60
_FIELDS = ("suite", "evaluator", *MEANS, *TESTS, "higher_is_better")


def build_sections(judged: Judged) -> Iterator[Section]:
    """The section of a judged comparison."""
    comparison, verdict = judged.comparison, judged.verdict
    table = comparison.slots.get(TABLE) or SliceTable()
    rows = build_slices(table, comparison, verdict)
    worst = tuple(each for each in rows if each.compared or each.is_bad)
    content = {
        "rows": rows,
        "worst": worst,  # those that were compared or miss a gate
        "bad": sum(each.is_bad for each in rows),
        "left_out": table.left_out,
    }
    yield Section("slices", Place.ROWS, sentences=tuple(_describe_unadjusted(table)))
    text = f"slices: no case has a value in {shorten_list(table.empty)}, neither as a field nor in its metadata."
    yield Section(
        "slices",
        Place.PARTS,
        title="Slices",
        anchor="slices",
        sentences=(text,) if table.empty else (),
        content=content,
        comment="features/slices/comment.md.j2" if worst and comparison.base is not None else "",
        page="features/slices/page.html.j2" if rows else "",
        terminal=partial(_print_rows, content) if rows else None,
        worse=tuple(_find_unwatched(rows, comparison, verdict)),
        data={
            "slices": [_to_data(each) for each in rows],
            "slices_left_out": [asdict(each) for each in table.left_out],
        },
    )


def _describe_unadjusted(table: SliceTable) -> Iterator[str]:
    known = [each.row.adjustment for each in table.rows if each.row.adjustment is not None]
    if left := [each for each in known if each.delta is None]:
        yield f"Slices: {len(left):,} of {len(known):,} rows {left[0].why_not}."


def _to_data(each: SliceView) -> dict[str, Any]:
    row = to_row_data(each.view.row, _FIELDS)
    place = {"field": each.field, "value": each.value, "cases": each.cases, "limited": each.limited}
    return {"suite": row["suite"], **place, **row, "label": each.view.label, "state": str(each.view.state)}


def _print_rows(content: Mapping[str, Any], view: ReportView, full: bool, rest: str) -> Iterable[Any]:
    from scoregate.features.slices.terminal import list_slices

    return list_slices(content["rows"], content["worst"], content["left_out"], view, full=full, rest=rest)


def _find_unwatched(slices: Sequence[SliceView], comparison: Comparison, verdict: Verdict) -> Iterator[UnwatchedDrop]:
    """The slices that no gate watches. The row of a whole suite that is worse is named, or a limit allows it."""
    warned = list_warned(verdict.warnings)
    worse = {(row.suite, row.evaluator) for row in comparison.rows if row.label is RowLabel.WORSE}
    for each in slices:
        row = each.view.row
        if is_unwatched(each.view) and (row.suite, row.evaluator) not in worse:
            name = f"{each.name} of {display_name(row.suite, _MAX_NAME)}"
            yield UnwatchedDrop(name, (row.suite, row.evaluator, slice_name(each.field, each.value)) in warned)
