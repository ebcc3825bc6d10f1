"""The texts of the listed trials in compressed pages, and the page and position of each trial."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeAlias

from scoregate.ci.report.cases import describe_confirmation
from scoregate.ci.report.html.assets import pack_blocks
from scoregate.ci.report.html.case_list import CaseEntry
from scoregate.ci.report.html.media import PageMedia
from scoregate.ci.report.html.text_budget import GENEROUS_CASES, TextBudget, text_limits
from scoregate.ci.report.html.trial import trial_data
from scoregate.ci.report.text import display_name, one_line
from scoregate.ci.report.view import ReportView
from scoregate.core.runs.case_columns import Columns
from scoregate.core.runs.cases import CaseResult

TrialRow: TypeAlias = tuple[int, int, CaseResult]
Page: TypeAlias = tuple[str, int, list[dict[str, Any]]]
_POSITIONS = 1 << 16


class TrialIndex:
    """The trials of one run: the ranks of their cases and their positions; -1 if they are not listed."""

    def __init__(self, columns: Mapping[int, tuple[int, Columns]]) -> None:
        self._columns = columns
        self._seen = dict.fromkeys(columns, 0)
        self.ranks = {at: array("l", [-1]) * len(each) for at, each in columns.values()}
        self.places = {at: array("l", [-1]) * len(each) for at, each in columns.values()}

    def rows(self, cases: Iterable[CaseResult]) -> Iterator[TrialRow]:
        """The listed trials with their suite and row, in the order of the rows."""
        for case in cases:
            at, columns = self._columns.get(case.suite, (0, None))
            if columns is None:
                continue
            row = self._seen[case.suite]
            self._seen[case.suite] = row + 1
            is_listed = row < len(columns.repeats) and self.ranks[at][row] >= 0
            if is_listed and columns.hashes[row] == case.hash and columns.repeats[row] == case.repeat:
                yield at, row, case

    def put(self, at: int, row: int, *, page: int, position: int) -> None:
        """Store the position of a trial."""
        self.places[at][row] = page * _POSITIONS + position

    def of(self, suite: int, rows: Sequence[int]) -> list[int]:
        """Page and position of each trial, in one list."""
        places = self.places[suite]
        if len(rows) == 1:
            return list(divmod(place, _POSITIONS)) if (place := places[rows[0]]) >= 0 else []
        return list(chain.from_iterable([divmod(places[row], _POSITIONS) for row in rows if places[row] >= 0]))


SAMPLES = 10
_PAGE = 256 * 1024
_OVERHEAD = 400
_PREVIEW = 110
_SAMPLE = 4000


@dataclass(slots=True)
class TrialPages:
    """The pages: positions of trials, titles and previews of cases, and samples of the worst ones.

    `tries` holds the results of rerunning cases.
    """

    now: TrialIndex
    before: TrialIndex
    trials: int
    tries: Mapping[tuple[str, str], str]
    pages: int = 0
    titles: dict[tuple[int, str], tuple[str, str]] = field(default_factory=dict)
    samples: dict[tuple[int, str], dict[str, Any]] = field(default_factory=dict)
    media: PageMedia = field(default_factory=PageMedia)


def plan_pages(view: ReportView, listed: Sequence[CaseEntry]) -> TrialPages:
    """Plan the pages of these cases, the worst first."""
    now = TrialIndex({at: (at, paired_suite.now) for at, paired_suite in enumerate(view.paired_suites)})
    paired = ((at, paired_suite.base_index, paired_suite.before) for at, paired_suite in enumerate(view.paired_suites))
    before = TrialIndex({index: (at, old) for at, index, old in paired if index is not None and old is not None})
    for rank, entry in enumerate(listed):
        for row in entry.now:
            now.ranks[entry.suite][row] = rank
        for row in entry.before:
            before.ranks[entry.suite][row] = rank
    tries = {(each.suite, each.case): describe_confirmation(each) for each in view.confirmations}
    return TrialPages(now, before, sum(len(entry.now) + len(entry.before) for entry in listed), tries)


def write_pages(view: ReportView, pages: TrialPages) -> Iterator[str]:
    """Yield the pages while the cases are read, those of the run first."""
    return pack_blocks(_fill_pages(view, pages), redact=view.context.redact)


def _fill_pages(view: ReportView, pages: TrialPages) -> Iterator[Page]:
    writer = _PageWriter(view, pages)
    for side, cases in ((pages.now, view.cases), (pages.before, view.base_cases)):
        for trial_row in side.rows(cases()):
            writer.add(side, trial_row)
            if writer.size >= _PAGE:
                yield writer.close()
    if writer.size:
        yield writer.close()


class _PageWriter:
    """Collects trials until a page is full."""

    def __init__(self, view: ReportView, pages: TrialPages) -> None:
        self._context, self._pages = view.context, pages
        self._generous, self._fair = text_limits(pages.trials)
        self._trials: list[dict[str, Any]] = []
        self._names: dict[str, str] = {}
        self.size = 0

    def add(self, side: TrialIndex, trial_row: TrialRow) -> None:
        at, row, case = trial_row
        rank = side.ranks[at][row]
        bound = self._generous if rank < GENEROUS_CASES else self._fair
        data, used = self._trial(case, bound)
        pages, place = self._pages, (at, case.hash)
        if "media" in data:
            for rows in data["media"].values():
                pages.media.note(rows, rank)
        side.put(at, row, page=pages.pages, position=len(self._trials))
        self._trials.append(data)
        self.size += used + _OVERHEAD
        if place not in pages.titles:
            pages.titles[place] = display_name(self._context.redact(case.name or case.hash)), _preview(data)
        if rank < SAMPLES:
            sample = pages.samples.setdefault(place, {})
            sample.setdefault("now" if side is pages.now else "before", self._trial(case, _SAMPLE)[0])

    def _trial(self, case: CaseResult, bound: int) -> tuple[dict[str, Any], int]:
        budget = TextBudget(bound, self._context.redact, self._names)
        data = trial_data(case, budget, show_outputs=self._context.show_outputs)
        return data, bound - budget.left

    def close(self) -> Page:
        page = ("page", self._pages.pages, self._trials)
        self._pages.pages += 1
        self._trials, self.size = [], 0
        return page


def _preview(data: Mapping[str, Any]) -> str:
    """The beginning of the output on one line; for a conversation, of the last answer."""
    conversation, errors = data.get("talk"), data.get("errors")
    text = data.get("output")
    if errors and text is None:
        text = errors[0].get("message")
    elif conversation and conversation["turns"]:
        text = conversation["turns"][-1]["assistant"]
    return one_line(text if isinstance(text, str) else text[0] if text else "", _PREVIEW)
