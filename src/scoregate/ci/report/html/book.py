"""The book of trials: all texts of the listed cases in packed pages, and on which page each trial is."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeAlias

from scoregate.ci.report.case_views import tries_told
from scoregate.ci.report.html.entries import Entry
from scoregate.ci.report.html.packing import block
from scoregate.ci.report.html.room import Room, bound_of
from scoregate.ci.report.html.trial import trial
from scoregate.ci.report.text import name, one_line
from scoregate.ci.report.view import ReportView
from scoregate.core.case import CaseResult
from scoregate.core.columns import Columns

Leaf: TypeAlias = tuple[int, int, CaseResult]
SAMPLES = 10
_PAGE = 256 * 1024
_OVERHEAD = 400
_PREVIEW = 110
_SAMPLE = 4000
_POSITIONS = 1 << 16


class Side:
    """The trials of one run: how their cases rank, and where they were put; -1 where they were not."""

    def __init__(self, columns: Mapping[int, tuple[int, Columns]]) -> None:
        self._columns = columns
        self._seen = dict.fromkeys(columns, 0)
        self.ranks = {at: array("l", [-1]) * len(each) for at, each in columns.values()}
        self.places = {at: array("l", [-1]) * len(each) for at, each in columns.values()}

    def leaves(self, cases: Iterable[CaseResult]) -> Iterator[Leaf]:
        """The listed trials with their suite and row; they come in the order of the rows."""
        for case in cases:
            at, columns = self._columns.get(case.suite, (0, None))
            if columns is None:
                continue
            row = self._seen[case.suite]
            self._seen[case.suite] += 1
            if row < len(columns) and columns.key(row) == case.key and self.ranks[at][row] >= 0:
                yield at, row, case

    def of(self, suite: int, rows: Iterable[int]) -> list[int]:
        """Page and position of trials, one after the other."""
        found = (self.places[suite][row] for row in rows)
        return list(chain.from_iterable(divmod(place, _POSITIONS) for place in found if place >= 0))


@dataclass(slots=True)
class Book:
    """What is known once the pages are written: titles and previews of cases, and the first trials of the worst.

    `tries` says of cases that were run again what that has shown.
    """

    now: Side
    before: Side
    trials: int
    tries: Mapping[tuple[str, str], str]
    pages: int = 0
    titles: dict[tuple[int, str], tuple[str, str]] = field(default_factory=dict)
    samples: dict[tuple[int, str], dict[str, Any]] = field(default_factory=dict)


def open_book(view: ReportView, listed: Sequence[Entry]) -> Book:
    """An empty book for these cases, the worst first."""
    now = Side({at: (at, sides.now) for at, sides in enumerate(view.sides)})
    paired = ((at, sides.base_index, sides.before) for at, sides in enumerate(view.sides))
    before = Side({twin: (at, old) for at, twin, old in paired if twin is not None and old is not None})
    for rank, entry in enumerate(listed):
        for row in entry.now:
            now.ranks[entry.suite][row] = rank
        for row in entry.before:
            before.ranks[entry.suite][row] = rank
    tries = {(each.suite, each.case): tries_told(each) for each in view.confirmations}
    return Book(now, before, sum(len(entry.now) + len(entry.before) for entry in listed), tries)


def pages(view: ReportView, book: Book) -> Iterator[str]:
    """Yield the pages as the cases are read, those of the run first."""
    page, size, context = list[dict[str, Any]](), 0, view.context
    for side, cases in ((book.now, view.cases), (book.before, view.base_cases)):
        for at, row, case in side.leaves(cases()):
            rank = side.ranks[at][row]
            room = Room(bound_of(book.trials, rank), context.redact)
            full, told = room.left, trial(case, room, show_outputs=context.show_outputs)
            _note(book, at, case, side=side, told=told, sampled=rank < SAMPLES, view=view)
            side.places[at][row] = book.pages * _POSITIONS + len(page)
            page.append(told)
            size += full - room.left + _OVERHEAD
            if size >= _PAGE:
                yield _closed(book, page, view)
                page, size = [], 0
    if page:
        yield _closed(book, page, view)


def _closed(book: Book, page: list[dict[str, Any]], view: ReportView) -> str:
    text = block("page", book.pages, page, redact=view.context.redact)
    book.pages += 1
    return text


def _note(
    book: Book, at: int, case: CaseResult, *, side: Side, told: dict[str, Any], sampled: bool, view: ReportView
) -> None:
    key, context = (at, case.hash), view.context
    if key not in book.titles:
        book.titles[key] = (name(context.redact(case.name or case.hash)), _preview(told))
    if sampled and (sample := ("now" if side is book.now else "before")) not in book.samples.setdefault(key, {}):
        short = Room(_SAMPLE, context.redact)
        book.samples[key][sample] = trial(case, short, show_outputs=context.show_outputs)


def _preview(told: Mapping[str, Any]) -> str:
    """The beginning of what came out, on one line; of a conversation, of what was said last."""
    talk, errors = told.get("talk"), told.get("errors")
    said = told.get("output")
    if errors and said is None:
        said = errors[0].get("message")
    elif talk and talk["turns"]:
        said = talk["turns"][-1]["assistant"]
    return one_line(said if isinstance(said, str) else said[0] if said else "", _PREVIEW)
