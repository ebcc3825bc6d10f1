"""The results of a run as a table, for whoever ran it by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scoregate.engine.printing import one_line, print_text
from scoregate.offline_tests.result import OfflineTestResult, ScoringResult

_MOST_ROWS = 50
_WIDEST = 40
_MARKS = {True: "passed", False: "failed", None: ""}


def show(result: OfflineTestResult, *, notice: str = "") -> None:
    """Print it: those that failed first."""
    print_text("\n".join([*_lines(result), *([notice] if notice else [])]))


def _lines(result: OfflineTestResult) -> Iterator[str]:
    rows = sorted(enumerate(result.results, 1), key=lambda row: row[1].success is not False and row[1].error is None)
    names = list(dict.fromkeys(data.name for row in result.results for data in row.scorers_data))
    cells = [["example", *names, "result"], *(_cells(number, row, names) for number, row in rows[:_MOST_ROWS])]
    yield f"{_cut(result.name)}: {result.status}, {len(rows)} rows{_verdict(result)}"
    yield from _aligned(cells)
    if len(rows) > _MOST_ROWS:
        yield f"… and {len(rows) - _MOST_ROWS} more"
    if result.ui_results_url:
        yield result.ui_results_url


def _verdict(result: OfflineTestResult) -> str:
    if result.passed is None:
        return ""
    return f", {sum(bool(row.success) for row in result.results)} passed"


def _cells(number: int, row: ScoringResult, names: Sequence[str]) -> list[str]:
    said = {data.name: data for data in row.scorers_data}
    example = row.data_object
    first = next((value for value in example.properties.values() if isinstance(value, str)), "")
    values = [_value(said[name].value, said[name].error) if name in said else "" for name in names]
    told = f"{_MARKS[row.success]} {row.error or ''}".strip()
    return [f"{example.example_id or number} {_cut(row.name or first)}", *values, _cut(told)]


def _value(value: str | float | None, error: str | None) -> str:
    if error is not None:
        return _cut(error)
    return f"{value:g}" if isinstance(value, int | float) else _cut(str(value))


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _cut(text: str) -> str:
    return one_line(text, _WIDEST)
