"""What is different between two versions of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress

from scoregate.datasets.example import Example
from scoregate.datasets.state import State, settle
from scoregate.datasets.versions import DatasetVersion, examples_of, head_of, version_of
from scoregate.store.datasets import Head
from scoregate.store.protocol import Store


@dataclass(frozen=True, slots=True)
class Difference:
    """Two versions: how many examples are in both, wherever they stand, and those that are in one of them alone.

    `removed` and `added` are read from the store as they are taken, once.
    """

    old: DatasetVersion
    new: DatasetVersion
    kept: int
    removed: Iterator[Example]
    added: Iterator[Example]


def difference(store: Store, name: str, old: int | str | None, *, new: int | str | None = None) -> Difference:
    """Hold two versions against each other; each by its number or its id, the newest if not given.

    Raises:
        JudgmentValidationError: there is no such dataset. InvalidDataset: there is no such version.
        StoreError: it cannot be read.
    """
    state = settle(store, name)
    one, other = head_of(state, old), head_of(state, new)
    before, after = _marks(state, one), _marks(state, other)
    gone, come = frozenset(before) - frozenset(after), frozenset(after) - frozenset(before)
    return Difference(
        version_of(state, one),
        version_of(state, other),
        len(before) - len(gone),
        compress(examples_of(state, one), (mark in gone for mark in before)),
        compress(examples_of(state, other), (mark in come for mark in after)),
    )


def _marks(state: State, head: Head) -> list[int]:
    """What tells each example from all others, also from those of another branch, whose ids may be the same."""
    ids, places = state.history.layout(head)
    return [place if place >= 0 else -id_ for id_, place in zip(ids, places, strict=True)]
