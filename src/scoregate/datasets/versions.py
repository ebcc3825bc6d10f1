"""The versions of a dataset: which there are, and reading any of them back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from scoregate.datasets.example import Example, example_of
from scoregate.datasets.schema import Schema
from scoregate.datasets.state import State, edited_lines, settle
from scoregate.errors import InvalidDataset
from scoregate.store.blocks import rows_at
from scoregate.store.datasets import HISTORY, Columns, Head
from scoregate.store.deltas import Positions
from scoregate.store.protocol import Store
from scoregate.store.rows import row_of


@dataclass(frozen=True, slots=True)
class DatasetVersion:
    """A version of a dataset; nothing changes it.

    Args:
        version_id: unique in the dataset. dataset_id: of the dataset. version_number: from 1.
        created_at: when, with its time zone. item_count: how many examples it has. columns: types, by column.
    """

    version_id: int
    dataset_id: str
    version_number: int
    created_at: datetime
    item_count: int
    columns: Columns


def open_version(store: Store, name: str, version: int | str | None = None) -> tuple[DatasetVersion, Iterator[Example]]:
    """A version of a dataset and its examples in their order, which are read as they are taken.

    Args:
        name: of the dataset. version: its number, or its id as text; the newest if not given.

    Raises:
        JudgmentValidationError: there is no such dataset.
        InvalidDataset: there is no such version, or two branches made one of this number each; also a ValueError.
        StoreError: it cannot be read; also while the examples are taken.
    """
    state = settle(store, name)
    head = head_of(state, version)
    return version_of(state, head), examples_of(state, head)


def all_versions(store: Store, name: str) -> list[DatasetVersion]:
    """Every version of a dataset, the newest first.

    Raises:
        JudgmentValidationError: there is no such dataset. StoreError: it cannot be read.
    """
    state = settle(store, name)
    newest_first = sorted(state.history.heads.values(), key=lambda head: (-head.version, head.created_at, head.id))
    return [version_of(state, head) for head in newest_first]


def head_of(state: State, version: int | str | None) -> Head:
    """The version of this number, or of this id; as `open_version`."""
    if version is None:
        return state.tip
    heads = state.history.heads.values()
    if isinstance(version, str):
        found = [head for head in heads if str(head.id) == version]
    else:
        found = [head for head in heads if head.version == version and version is not True]
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidDataset(
            f"two branches made a version {version} of the dataset {state.card.name!r:.200}",
            advice=f"Name one by its id: {' or '.join(str(head.id) for head in found)}.",
        )
    raise InvalidDataset(
        f"Dataset version {version!s:.60} does not exist for the dataset {state.card.name!r:.200}",
        advice=f"Its newest is {state.tip.version}. A number is given as an int, the id of a version as a string.",
    )


def version_of(state: State, head: Head) -> DatasetVersion:
    """What people see of a version."""
    return DatasetVersion(head.id, state.card.id, head.version, head.created_at, head.count, dict(head.columns))


def examples_of(state: State, head: Head) -> Iterator[Example]:
    """The examples of a version in their order, read as they are taken.

    Raises:
        StoreError: they cannot be read, or are no longer those that were written.
    """
    ids, places = state.history.layout(head)
    schema = Schema(head.columns)
    for example_id, line in zip(ids, _lines(state, head, places), strict=True):
        yield example_of(row_of(line), example_id, schema)


def _lines(state: State, head: Head, places: Positions) -> Iterator[bytes]:
    if -1 in places:  # edited by hand where nothing can be written
        yield from edited_lines(state, head)
        return
    with state.open(HISTORY) as file:
        yield from rows_at(file, head, places, origin=state.where(HISTORY))
