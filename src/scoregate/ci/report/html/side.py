"""The trials of one run, by suite and row: how their cases rank, and on which page of the book each is."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TypeAlias

from scoregate.core.case import CaseResult
from scoregate.core.columns import Columns

Leaf: TypeAlias = tuple[int, int, CaseResult]
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

    def put(self, at: int, row: int, *, page: int, position: int) -> None:
        """Remember where a trial is."""
        self.places[at][row] = page * _POSITIONS + position

    def of(self, suite: int, rows: Iterable[int]) -> list[int]:
        """Page and position of trials, one after the other."""
        found = (self.places[suite][row] for row in rows)
        return list(chain.from_iterable(divmod(place, _POSITIONS) for place in found if place >= 0))
