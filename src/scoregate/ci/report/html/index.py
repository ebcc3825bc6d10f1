"""The index of the page: a row for each listed case, with its scores on both sides and where its trials are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from math import isnan
from typing import Any

from scoregate.ci.report.html.book import Book
from scoregate.ci.report.html.entries import Entry, mean
from scoregate.ci.report.html.packing import block
from scoregate.ci.report.sides import Sides
from scoregate.ci.report.text import name, one_line
from scoregate.ci.report.view import ReportView
from scoregate.core.case import STATUSES, Status
from scoregate.core.columns import Columns

_FIRST, _REST = 300, 5000
_TAGS = 20


def index(view: ReportView, listed: Sequence[Entry], book: Book) -> Iterator[str]:
    """Yield it in blocks, a small one first, then what the page has to know to read it."""
    columns, redact = [_evaluators(sides) for sides in view.sides], view.context.redact
    rows = (_row(entry, view.sides[entry.suite], columns[entry.suite], book=book, view=view) for entry in listed)
    blocks = 0
    while part := list(islice(rows, _REST if blocks else _FIRST)):
        yield block("index", blocks, part, redact=redact)
        blocks += 1
    suites = [_suite(at, names, view) for at, names in enumerate(columns)]
    about = {"base": view.base is not None, "side": view.context.side}
    head = {"suites": suites, "blocks": blocks, "cases": len(listed), **about}
    yield block("head", 0, head, redact=redact)


def _evaluators(sides: Sides) -> list[str]:
    return list(dict.fromkeys([*sides.now.scores, *(sides.before.scores if sides.before is not None else ())]))


def _suite(at: int, evaluators: Sequence[str], view: ReportView) -> dict[str, Any]:
    sides, told, redact = view.sides[at], view.suites[at], view.context.redact
    return {
        "place": None if told.file is None else one_line(redact(f"{told.file}:{told.line}"), 200),
        "label": name(redact(sides.label)),
        "url": sides.url,
        "evaluators": [name(redact(each)) for each in evaluators],
        "upwards": [sides.upwards.get(each, True) for each in evaluators],
        "apart": [each in sides.apart for each in evaluators],
    }


def _row(entry: Entry, sides: Sides, evaluators: Sequence[str], *, book: Book, view: ReportView) -> list[Any]:
    """The fields in the order in which `data.js` names them."""
    now, before, old = entry.now, entry.before, sides.before
    shown, preview = book.titles.get((entry.suite, entry.hash), ("", ""))
    redact = view.context.redact
    return [
        address(sides.label, entry.hash),
        entry.suite,
        shown or name(redact(entry.hash)),
        int(entry.kind),
        round(entry.gain, 4),
        _scores(sides.now, evaluators, now),
        _scores(old, evaluators, before) if old is not None and before else 0,
        _state(sides.now, now),
        _state(old, before) if old is not None else -1,
        _average(sides.now.durations_ms, now),
        _average(old.durations_ms, before) if old is not None else None,
        _average(sides.now.costs, now, 7),
        _average(old.costs, before, 7) if old is not None else None,
        [name(redact(tag), 60) for tag in _tags(sides, entry)[:_TAGS]],
        preview,
        book.now.of(entry.suite, now),
        book.before.of(entry.suite, before) if before else [],
        book.tries.get((sides.label, entry.hash), ""),
    ]


def address(suite: str, case: str) -> str:
    """A short name for a case that stays the same from run to run."""
    return blake2b(f"{suite}\0{case}".encode("utf-8", "replace"), digest_size=6).hexdigest()


def _scores(columns: Columns, evaluators: Sequence[str], rows: tuple[int, ...]) -> list[float | None]:
    found = (mean(columns, each, rows) for each in evaluators)
    return [None if score is None else round(score, 4) for score in found]


def _state(columns: Columns, rows: Sequence[int]) -> int:
    """The state that most trials are in, the worse where two are as many; -1 where there are none."""
    if len(rows) == 1:
        return columns.statuses[rows[0]]
    found = [columns.statuses[row] for row in rows]
    order = [STATUSES.index(each) for each in (Status.FAILED, Status.ERRORED)]
    return max(found, key=lambda each: (found.count(each), each in order), default=-1)


def _average(values: Sequence[float], rows: tuple[int, ...], digits: int = 1) -> float | None:
    known = [values[row] for row in rows if not isnan(values[row])]
    return round(sum(known) / len(known), digits) if known else None


def _tags(sides: Sides, entry: Entry) -> tuple[str, ...]:
    if entry.now:
        return sides.now.tags.get(entry.now[0], ())
    return sides.before.tags.get(entry.before[0], ()) if sides.before is not None else ()
