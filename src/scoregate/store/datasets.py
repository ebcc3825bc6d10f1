"""Datasets as they are kept: a card, the rows that people edit, and every version that there was."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AwareDatetime, Field, model_validator

from scoregate.store.json_lines import Card
from scoregate.store.kinds import Kind
from scoregate.store.review_records import Item

# Rows start … start + count - 1 of the version before, or so many new ones.
Run: TypeAlias = tuple[int, int] | int
Positions: TypeAlias = "array[int]"


def runs_between(old: Iterable[bytes], new: Iterable[bytes]) -> tuple[Run, ...]:
    """How to make the new lines of the old ones; lines that moved are taken from where they were.

    Memory grows with the lines after the first that differs, not with what they say.
    """
    before, after = iter(old), iter(new)
    start, ours, theirs = _common(before, after)
    if theirs is None:
        return _runs(range(start))
    places = _Places(chain([] if ours is None else [ours], before), start)
    rest = (places.take(line) for line in chain([theirs], after))
    return _runs(chain(range(start), rest))


def applied(runs: Sequence[Run], old: Positions, new: Positions) -> Positions:
    """What stands at each position after the runs: that of the old version, or the next of the new."""
    made, used = array("q"), 0
    for run in runs:
        if isinstance(run, int):
            made.extend(new[used : used + run])
            used += run
        else:
            made.extend(old if run == (0, len(old)) else old[run[0] : run[0] + run[1]])
    return made


def added_in(runs: Sequence[Run]) -> int:
    """How many rows are new."""
    return sum(run for run in runs if isinstance(run, int))


def length_of(runs: Sequence[Run]) -> int:
    """How many rows there are after the runs."""
    return sum(run if isinstance(run, int) else run[1] for run in runs)


def _common(before: Iterator[bytes], after: Iterator[bytes]) -> tuple[int, bytes | None, bytes | None]:
    """How many lines are the same at the start, and the first of each that are not."""
    count = 0
    while True:
        ours, theirs = next(before, None), next(after, None)
        if ours is None or ours != theirs:
            return count, ours, theirs
        count += 1


class _Places:
    """Where lines stand; every place is given once, that after the last where it fits, else the first."""

    def __init__(self, lines: Iterable[bytes], start: int) -> None:
        self._keys = [_key(line) for line in lines]
        self._start, self._last = start, -1
        self._taken = bytearray(len(self._keys))
        self._first: dict[int, int] = {}
        self._next = array("q", bytes(8 * len(self._keys)))
        for place in range(len(self._keys) - 1, -1, -1):
            self._next[place] = self._first.get(self._keys[place], -1)
            self._first[self._keys[place]] = place

    def take(self, line: bytes) -> int:
        """A place of such a line; -1 where there is none left."""
        key, place = _key(line), self._last + 1
        if place >= len(self._keys) or self._keys[place] != key or self._taken[place]:
            place = self._free(key)
        if place < 0:
            return -1
        self._taken[place], self._last = True, place
        return place + self._start

    def _free(self, key: int) -> int:
        place = self._first.get(key, -1)
        while place >= 0 and self._taken[place]:
            place = self._next[place]
        self._first[key] = place
        return place


def _key(line: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(line, digest_size=16).digest())


def _runs(places: Iterable[int]) -> tuple[Run, ...]:
    """Places in order as runs; -1 is a new row."""
    runs: list[Run] = []
    start, count = 0, 0
    for place in places:
        if count and (place == start + count if place >= 0 and start >= 0 else place == start):
            count += 1
            continue
        if count:
            runs.append(count if start < 0 else (start, count))
        start, count = place, 1
    if count:
        runs.append(count if start < 0 else (start, count))
    return tuple(runs)


ROWS, HISTORY = "rows.jsonl", "history.jsonl"
ColumnType = Literal["string", "integer", "number", "boolean", "array", "object", "trace"]
Columns = dict[str, ColumnType]
_Count = Annotated[int, Field(ge=0, lt=2**53)]


class StoredDataset(Item):
    """A dataset's card. `schema` is a JSON Schema of an object whose properties are the columns."""

    id: str = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1)
    description: str = ""
    document: dict[str, Any] = Field(alias="schema")
    created_at: AwareDatetime


class Head(Item):
    """A version: how it is made of the one before, and what came of it.

    Args:
        version: counted from 1. id: unique in the dataset; the same for the same change of the same version.
        parent: the id of the version before. count: of rows. digest: of the rows as `rows.jsonl` has them.
        rows: see `Run`. start: where in the history this line begins, in bytes.
    """

    version: int = Field(ge=1)
    id: int = Field(ge=0)
    parent: int | None = None
    created_at: AwareDatetime
    count: _Count
    digest: str
    columns: Columns
    rows: tuple[tuple[_Count, _Count] | _Count, ...]
    start: _Count

    @property
    def added(self) -> int:
        """How many of its rows are new."""
        return added_in(self.rows)

    @model_validator(mode="after")
    def _counted(self) -> Head:
        if length_of(self.rows) != self.count:
            raise ValueError(f"version {self.version} has {length_of(self.rows)} rows, and says {self.count}")
        return self


# Both sides' versions stay. Of both sides' rows git cannot know whether they are two rows or two forms of one.
_ATTRIBUTES = f"{HISTORY} merge=union\n{ROWS} merge=text\n"
DATASETS = Kind(
    "datasets", StoredDataset, Card("schema.json"), ("dataset",), beside=(ROWS, HISTORY), attributes=_ATTRIBUTES
)
__all__ = ["DATASETS", "HISTORY", "ROWS", "ColumnType", "Columns", "Head", "Run", "StoredDataset"]
