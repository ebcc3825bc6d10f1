"""Stored datasets: a document, the rows that people may edit, and the history of all versions."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AwareDatetime, Field, model_validator

from scoregate.store.json_lines import JsonDocument
from scoregate.store.kinds import Kind
from scoregate.store.review_records import Item

# Either (start, count): rows start … start + count - 1 of the version before. Or the number of new rows.
Run: TypeAlias = tuple[int, int] | int
Positions: TypeAlias = "array[int]"


def find_runs(old: Iterable[bytes], new: Iterable[bytes]) -> tuple[Run, ...]:
    """The runs that make the new lines from the old ones. Moved lines refer to their old positions.

    Memory grows with the number of lines after the first difference, not with their lengths.
    """
    before, after = iter(old), iter(new)
    start, old_line, new_line = 0, next(before, None), next(after, None)
    while old_line is not None and old_line == new_line:
        start, old_line, new_line = start + 1, next(before, None), next(after, None)
    if new_line is None:
        return _to_runs(range(start))
    positions = _OldPositions(chain([] if old_line is None else [old_line], before), start)
    rest = (positions.take(line) for line in chain([new_line], after))
    return _to_runs(chain(range(start), rest))


def apply_runs(runs: Sequence[Run], old: Positions, new: Positions) -> Positions:
    """The values after the runs: each comes from the old version, or is the next of the new values."""
    result, used = array("q"), 0
    for run in runs:
        if isinstance(run, int):
            result.extend(new[used : used + run])
            used += run
        else:
            result.extend(old if run == (0, len(old)) else old[run[0] : run[0] + run[1]])
    return result


def count_new_rows(runs: Sequence[Run]) -> int:
    """The number of new rows."""
    return sum(run for run in runs if isinstance(run, int))


def count_rows(runs: Sequence[Run]) -> int:
    """The number of rows after the runs."""
    return sum(run if isinstance(run, int) else run[1] for run in runs)


class _OldPositions:
    """The positions of old lines. Each is taken once: the one after the last taken if its line is equal, else the
    first free one."""

    def __init__(self, lines: Iterable[bytes], start: int) -> None:
        self._keys = [_line_key(line) for line in lines]
        self._start, self._last = start, -1
        self._taken = bytearray(len(self._keys))
        self._first: dict[int, int] = {}
        self._next = array("q", bytes(8 * len(self._keys)))
        for place in range(len(self._keys) - 1, -1, -1):
            self._next[place] = self._first.get(self._keys[place], -1)
            self._first[self._keys[place]] = place

    def take(self, line: bytes) -> int:
        """A position of an equal line; -1 if none is left."""
        key, place = _line_key(line), self._last + 1
        if place >= len(self._keys) or self._keys[place] != key or self._taken[place]:
            place = self._first.get(key, -1)
            while place >= 0 and self._taken[place]:
                place = self._next[place]
            # No search passes the taken ones again.
            self._first[key] = place
        if place < 0:
            return -1
        self._taken[place], self._last = True, place
        return place + self._start


def _line_key(line: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(line, digest_size=16).digest())


def _to_runs(positions: Iterable[int]) -> tuple[Run, ...]:
    """The runs for old positions in their new order; -1 is a new row."""
    runs: list[Run] = []
    start, count = 0, 0
    for position in positions:
        if count and (position == start + count if position >= 0 and start >= 0 else position == start):
            count += 1
            continue
        if count:
            runs.append(count if start < 0 else (start, count))
        start, count = position, 1
    if count:
        runs.append(count if start < 0 else (start, count))
    return tuple(runs)


ROWS, HISTORY = "rows.jsonl", "history.jsonl"
ColumnType = Literal["string", "integer", "number", "boolean", "array", "object", "trace"]
Columns = dict[str, ColumnType]
_Count = Annotated[int, Field(ge=0, lt=2**53)]


class StoredDataset(Item):
    """The document of a dataset. `schema` is a JSON Schema of an object whose properties are the columns."""

    id: str = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1)
    description: str = ""
    document: dict[str, Any] = Field(alias="schema")
    created_at: AwareDatetime


class Head(Item):
    """The record of a version: the changes since the version before, and the digest of the result.

    Attributes:
        version: the number of the version, from 1.
        id: unique in the dataset; the same change of the same version gives the same id.
        parent: the id of the version before; None for the first.
        created_at: the time of the change.
        count: the number of rows.
        digest: the digest of `rows.jsonl`.
        columns: the columns with their types.
        rows: the changes, see `Run`.
        start: the position of this line in the history, in bytes.
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
        """The number of new rows."""
        return count_new_rows(self.rows)

    @model_validator(mode="after")
    def _check_count(self) -> Head:
        if count_rows(self.rows) != self.count:
            raise ValueError(f"version {self.version} has {count_rows(self.rows)} rows, but its count is {self.count}")
        return self


# Git keeps the versions of both branches. It cannot merge rows: two rows may be two forms of one row.
_ATTRIBUTES = f"{HISTORY} merge=union\n{ROWS} merge=text\n"
DATASETS = Kind(
    "datasets",
    StoredDataset,
    JsonDocument("schema.json"),
    ("dataset",),
    extra_files=(ROWS, HISTORY),
    attributes=_ATTRIBUTES,
)
__all__ = ["DATASETS", "HISTORY", "ROWS", "ColumnType", "Columns", "Head", "Run", "StoredDataset"]
