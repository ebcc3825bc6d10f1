"""The book of trials: all texts of the listed cases in packed pages, and on which page each trial is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scoregate.ci.report.case_views import tries_told
from scoregate.ci.report.html.entries import Entry
from scoregate.ci.report.html.packing import block
from scoregate.ci.report.html.room import Room, bound_of
from scoregate.ci.report.html.side import Leaf, Side
from scoregate.ci.report.html.trial import trial
from scoregate.ci.report.text import name, one_line
from scoregate.ci.report.view import ReportView
from scoregate.core.case import CaseResult

SAMPLES = 10
_PAGE = 256 * 1024
_OVERHEAD = 400
_PREVIEW = 110
_SAMPLE = 4000


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
    binder = _Binder(view, book)
    for side, cases in ((book.now, view.cases), (book.before, view.base_cases)):
        for leaf in side.leaves(cases()):
            binder.add(side, leaf)
            if binder.size >= _PAGE:
                yield binder.close()
    if binder.size:
        yield binder.close()


class _Binder:
    """The page that is being written."""

    def __init__(self, view: ReportView, book: Book) -> None:
        self._context, self._book = view.context, book
        self._trials: list[dict[str, Any]] = []
        self.size = 0

    def add(self, side: Side, leaf: Leaf) -> None:
        at, row, case = leaf
        rank = side.ranks[at][row]
        bound = bound_of(self._book.trials, rank)
        told, used = self._told(case, bound)
        side.put(at, row, page=self._book.pages, position=len(self._trials))
        self._trials.append(told)
        self.size += used + _OVERHEAD
        self._entitle((at, case.hash), case, told)
        if rank < SAMPLES:
            sample = self._book.samples.setdefault((at, case.hash), {})
            sample.setdefault("now" if side is self._book.now else "before", self._told(case, _SAMPLE)[0])

    def _told(self, case: CaseResult, bound: int) -> tuple[dict[str, Any], int]:
        room = Room(bound, self._context.redact)
        told = trial(case, room, show_outputs=self._context.show_outputs)
        return told, bound - room.left

    def _entitle(self, key: tuple[int, str], case: CaseResult, told: Mapping[str, Any]) -> None:
        if key not in self._book.titles:
            self._book.titles[key] = (name(self._context.redact(case.name or case.hash)), _preview(told))

    def close(self) -> str:
        text = block("page", self._book.pages, self._trials, redact=self._context.redact)
        self._book.pages += 1
        self._trials, self.size = [], 0
        return text


def _preview(told: Mapping[str, Any]) -> str:
    """The beginning of what came out, on one line; of a conversation, of what was said last."""
    talk, errors = told.get("talk"), told.get("errors")
    said = told.get("output")
    if errors and said is None:
        said = errors[0].get("message")
    elif talk and talk["turns"]:
        said = talk["turns"][-1]["assistant"]
    return one_line(said if isinstance(said, str) else said[0] if said else "", _PREVIEW)
