"""The index of the page: a row for each listed case, with its scores in both runs and the positions of its trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import count, islice
from math import isnan
from typing import Any, TypeAlias

from scoregate.kernel.report.html.assets import block, pack_blocks
from scoregate.kernel.report.html.case_list import CaseEntry, ScoreColumn
from scoregate.kernel.report.html.side_pages import TrialPages
from scoregate.kernel.report.text import display_name, one_line
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import STATUSES, Status

_FIRST, _REST = 300, 5000
_TAGS = 20


def render_index(view: ReportView, listed: Sequence[CaseEntry], pages: TrialPages) -> Iterator[str]:
    """Yield the index in blocks, a small one first, then the head that describes them."""
    redact = view.context.redact
    evaluators = [
        list(
            dict.fromkeys(
                [*paired_suite.now.scores, *(paired_suite.before.scores if paired_suite.before is not None else ())]
            )
        )
        for paired_suite in view.paired_suites
    ]
    writers = [_SuiteRows(at, view, names, pages) for at, names in enumerate(evaluators)]
    rows = (writers[entry.suite].row(entry) for entry in listed)
    blocks = 0
    for blocks, text in enumerate(pack_blocks(_split_rows(rows), redact=redact), 1):  # noqa: B007
        yield text
    suites = [_suite(at, names, view) for at, names in enumerate(evaluators)]
    about = {"base": view.base is not None, "side": view.context.side}
    head = {"suites": suites, "blocks": blocks, "cases": len(listed), **about}
    yield block("head", 0, head, redact=redact)


def _split_rows(rows: Iterator[list[Any]]) -> Iterator[tuple[str, int, list[list[Any]]]]:
    for number in count():
        if not (part := list(islice(rows, _REST if number else _FIRST))):
            return
        yield "index", number, part


def _suite(at: int, evaluators: Sequence[str], view: ReportView) -> dict[str, Any]:
    paired_suite, origin, redact = view.paired_suites[at], view.suites[at].origin, view.context.redact
    return {
        "place": None if origin is None else one_line(redact(f"{origin.file}:{origin.line}"), 200),
        "label": display_name(redact(paired_suite.label)),
        "url": paired_suite.url,
        "evaluators": [display_name(redact(each)) for each in evaluators],
        "upwards": [paired_suite.higher_is_better.get(each, True) for each in evaluators],
        "apart": [each in paired_suite.incomparable for each in evaluators],
    }


class _SuiteRows:
    """Makes the rows of one suite."""

    def __init__(self, at: int, view: ReportView, evaluators: Sequence[str], pages: TrialPages) -> None:
        suite = view.paired_suites[at]
        self._at, self._label, self._redact, self._pages = at, suite.label, view.context.redact, pages
        self._now = _Side(suite.now, evaluators)
        self._before = None if suite.before is None else _Side(suite.before, evaluators)

    def row(self, entry: CaseEntry) -> list[Any]:
        """The fields of a row, in the order of FIELDS in `data.js`."""
        now, old, pages = entry.now, entry.before, self._pages
        title, preview = pages.title((self._at, entry.hash))
        scores, status, duration, cost = self._now.measure(now)
        base_scores, base_status, base_duration, base_cost = _NO_MEASURES
        if old and self._before is not None:
            base_scores, base_status, base_duration, base_cost = self._before.measure(old)
        tags = self._now.tags.get(now[0], ()) if now else self._before.tags.get(old[0], ()) if self._before else ()
        return [
            case_address(self._label, entry.hash),
            self._at,
            title or display_name(self._redact(entry.hash)),
            int(entry.kind),
            _round_score(entry.gain),
            scores,
            base_scores,
            status,
            base_status,
            duration,
            base_duration,
            cost,
            base_cost,
            [display_name(self._redact(tag), 60) for tag in tags[:_TAGS]] if tags else [],
            preview,
            pages.now.index.of(self._at, now),
            pages.before.index.of(self._at, old) if old else [],
            pages.tries.get((self._label, entry.hash), "") if pages.tries else "",
        ]


_Measures: TypeAlias = tuple[list[float | None] | int, int, float | None, float | None]
_NO_MEASURES: _Measures = (0, -1, None, None)


class _Side:
    """The columns of a suite in the run or in the baseline."""

    def __init__(self, columns: Columns, evaluators: Sequence[str]) -> None:
        self._columns, self.tags = columns, columns.tags
        self._scores = [ScoreColumn(columns, name) for name in evaluators]

    def measure(self, rows: tuple[int, ...]) -> _Measures:
        """The mean scores, the main status, the mean duration and the mean cost of some trials."""
        columns = self._columns
        if len(rows) != 1:
            means = [column.average(rows) for column in self._scores]
            scores = [None if score is None else round(score, 4) for score in means]
            duration, cost = _average(columns.durations_ms, rows), _average(columns.costs, rows, 7)
            return scores, _main_status(columns, rows), duration, cost
        (row,) = rows  # most cases have no repeats
        single = [
            None if row >= len(each.scores) or isnan(score := each.scores[row]) else _round_score(score)
            for each in self._scores
        ]
        duration, cost = columns.durations_ms[row], columns.costs[row]
        return (
            single,
            columns.statuses[row],
            None if isnan(duration) else round(duration, 1),
            None if isnan(cost) else round(cost, 7),
        )


@lru_cache(maxsize=4096)
def _round_score(score: float) -> float:
    """Many scores are equal, and rounding takes four times as long as finding the result."""
    return round(score, 4)


def case_address(suite: str, case: str) -> str:
    """A short id for a case that is the same in every run."""
    return blake2b(f"{suite}\0{case}".encode("utf-8", "replace"), digest_size=6).hexdigest()


def _main_status(columns: Columns, rows: Sequence[int]) -> int:
    """The most frequent status of trials, the worse of equally frequent ones; -1 if there are none."""
    statuses = [columns.statuses[row] for row in rows]
    order = [STATUSES.index(each) for each in (Status.FAILED, Status.ERRORED)]
    return max(statuses, key=lambda each: (statuses.count(each), each in order), default=-1)


def _average(values: Sequence[float], rows: tuple[int, ...], digits: int = 1) -> float | None:
    known = [values[row] for row in rows if not isnan(values[row])]
    return round(sum(known) / len(known), digits) if known else None
