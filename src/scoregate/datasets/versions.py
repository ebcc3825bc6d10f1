"""The versions of a dataset, and their examples."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, compress

from scoregate.datasets.schema import Example, Schema, to_example
from scoregate.datasets.state import DatasetState, load_state, read_edited_lines
from scoregate.errors import InvalidDataset
from scoregate.store.dataset_history import read_rows
from scoregate.store.datasets import HISTORY, Columns, Head, Positions
from scoregate.store.json_lines import decode_row
from scoregate.store.protocol import Store


@dataclass(frozen=True, slots=True)
class DatasetVersion:
    """A version of a dataset. It never changes.

    Args:
        version_id: unique in the dataset.
        dataset_id: the id of the dataset.
        version_number: counted from 1.
        created_at: the time of the version, with a time zone.
        item_count: the number of examples.
        columns: the type of each column.
    """

    version_id: str
    dataset_id: str
    version_number: int
    created_at: datetime
    item_count: int
    columns: Columns


def open_version(store: Store, name: str, version: int | str | None = None) -> tuple[DatasetVersion, Iterator[Example]]:
    """A version of a dataset and its examples in order. The examples are streamed.

    Args:
        name: the name of the dataset.
        version: the number of the version, or its id as text; default: the newest.

    Raises:
        JudgmentValidationError: there is no such dataset.
        InvalidDataset: there is no such version, or two branches have different versions of this number.
        StoreError: it cannot be read; also while the examples are read.
    """
    state = load_state(store, name)
    head = find_head(state, version)
    return to_version(state, head), read_examples(state, head)


def all_versions(store: Store, name: str) -> list[DatasetVersion]:
    """All versions of a dataset, the newest first.

    Raises:
        JudgmentValidationError: there is no such dataset.
        StoreError: it cannot be read.
    """
    state = load_state(store, name)
    newest_first = sorted(state.history.heads.values(), key=lambda head: (-head.version, head.created_at, head.id))
    return [to_version(state, head) for head in newest_first]


def find_head(state: DatasetState, version: int | str | None) -> Head:
    """The version of this number or id; as `open_version`."""
    if version is None:
        return state.tip
    heads = state.history.heads.values()
    if isinstance(version, str):
        matches = [head for head in heads if str(head.id) == version]
    else:
        matches = [head for head in heads if head.version == version and version is not True]  # True equals version 1
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise InvalidDataset(
            f"two branches made a version {version} of the dataset {state.card.name!r:.200}",
            advice=f"Name one by its id: {' or '.join(str(head.id) for head in matches)}.",
        )
    raise InvalidDataset(
        f"Dataset version {version!s:.60} does not exist for the dataset {state.card.name!r:.200}",
        advice=f"Its newest is {state.tip.version}. A number is given as an int, the id of a version as a string.",
    )


def to_version(state: DatasetState, head: Head) -> DatasetVersion:
    """The public form of a version."""
    return DatasetVersion(str(head.id), state.card.id, head.version, head.created_at, head.count, dict(head.columns))


def read_examples(state: DatasetState, head: Head) -> Iterator[Example]:
    """The examples of a version in order, streamed.

    Raises:
        StoreError: they cannot be read, or their file changed.
    """
    ids, places = state.history.layout(head)
    schema = Schema(head.columns)
    versions = state.history.line(head)
    first_ids = list(accumulate((each.added for each in versions), initial=1))
    times = [each.created_at.isoformat() for each in versions]
    for example_id, line in zip(ids, _read_lines(state, head, places), strict=True):
        added_at = times[bisect_right(first_ids, example_id) - 1]
        yield to_example(decode_row(line), example_id, schema, added_at)


def _read_lines(state: DatasetState, head: Head, places: Positions) -> Iterator[bytes]:
    if -1 in places:  # edited by hand where nothing can be written
        yield from read_edited_lines(state, head)
        return
    with state.open(HISTORY) as file:
        yield from read_rows(file, head, places, origin=state.where(HISTORY))


@dataclass(frozen=True, slots=True)
class VersionDifference:
    """Two versions: the number of common examples, and those that only one of them has.

    `removed` and `added` are streams that can be read once.
    """

    old: DatasetVersion
    new: DatasetVersion
    kept: int
    removed: Iterator[Example]
    added: Iterator[Example]


def compare_versions(
    store: Store, name: str, old: int | str | None, *, new: int | str | None = None
) -> VersionDifference:
    """Compare two versions, each given by its number or id; default: the newest.

    Raises:
        JudgmentValidationError: there is no such dataset.
        InvalidDataset: there is no such version.
        StoreError: it cannot be read.
    """
    state = load_state(store, name)
    one, other = find_head(state, old), find_head(state, new)
    before, after = _row_keys(state, one), _row_keys(state, other)
    removed, added = frozenset(before) - frozenset(after), frozenset(after) - frozenset(before)
    return VersionDifference(
        to_version(state, one),
        to_version(state, other),
        len(before) - len(removed),
        compress(read_examples(state, one), (key in removed for key in before)),
        compress(read_examples(state, other), (key in added for key in after)),
    )


def _row_keys(state: DatasetState, head: Head) -> list[int]:
    """A key for each example that is unique even if another branch uses the same ids."""
    ids, places = state.history.layout(head)
    return [place if place >= 0 else -id_ for id_, place in zip(ids, places, strict=True)]
