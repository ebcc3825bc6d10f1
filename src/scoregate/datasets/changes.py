"""Changes of datasets: create, add rows, delete. Each is atomic for other processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Protocol
from uuid import uuid4

from scoregate.datasets.schema import Schema
from scoregate.datasets.state import DatasetState, append_version, commit_edits, next_head, read_state
from scoregate.errors import JudgmentConflictError, JudgmentValidationError, StoreError
from scoregate.store.candidates import CANDIDATES
from scoregate.store.dataset_history import History, LineDigest
from scoregate.store.datasets import DATASETS, HISTORY, ROWS, Run, StoredDataset
from scoregate.store.errors import check_items
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store

# The place of a row for messages, such as "rows.csv, row 3", and the row or its problem.
LocatedRow = tuple[str, Mapping[str, Any] | str]


class Dependents(Protocol):
    """The test configs that use datasets."""

    def of(self, dataset_id: str, name: str) -> Sequence[str]:
        """The names of the test configs that use a dataset, by its id or its name."""

    def counts(self) -> Mapping[str, int]:
        """The number of test configs for each dataset, by its id or its name, as the config refers to it."""

    def delete(self, dataset_id: str, name: str) -> None:
        """Delete the test configs of a dataset."""


def create_dataset(
    store: Store,
    card: StoredDataset,
    rows: Iterable[LocatedRow],
    *,
    schema: Schema,
    overwrite: bool,
    dependents: Dependents | None,
) -> DatasetState:
    """Create a dataset whose first version has these rows.

    Raises:
        JudgmentConflictError: the name is in use, and `overwrite` is not set.
        JudgmentValidationError: a row does not fit the schema, or test configs use the dataset of this name.
        StoreError: it could not be written.
    """
    state = DatasetState(store, card, schema, History({}, {}, 0), "")
    # The old rows may be the source of the new ones, so these are read before they are deleted.
    lines = list(_to_lines(schema, rows)) if overwrite else _to_lines(schema, rows)
    with store.open_writer() as writer:
        if (existing := next(store.read(DATASETS, (card.name,)), None)) is not None:
            if not overwrite:
                raise JudgmentConflictError(
                    f"there is a dataset {existing.name!r:.200} already", advice="Give overwrite=True to replace it."
                )
            if dependents and (configs := dependents.of(existing.id, existing.name)):
                users = ", ".join(configs)
                raise JudgmentValidationError(
                    f"the dataset {existing.name!r:.200} cannot be replaced: test configs use it: {users:.300}",
                    advice="Delete them first, or add to the dataset.",
                )
            writer.update(DATASETS, (card.name,), lambda _: [])
        shelf, tally = (card.name,), LineDigest()
        writer.replace(DATASETS, shelf, ROWS, pieces=tally.lines(lines))
        writer.replace(DATASETS, shelf, HISTORY, pieces=[])
        state = append_version(state, next_head(state, (tally.count,) if tally.count else (), tally), writer)
        # The document is written last: without it the dataset does not exist.
        writer.update(DATASETS, shelf, lambda _: [card])
        return state


def new_document(name: str, schema: Schema, description: str) -> StoredDataset:
    """The document of a new dataset."""
    now = datetime.now(UTC)
    return StoredDataset(id=str(uuid4()), name=name, description=description, schema=schema.document, created_at=now)


def add_rows(store: Store, name: str, rows: Iterable[LocatedRow]) -> DatasetState:
    """Add rows to a dataset as one new version; no version without rows.

    Raises:
        JudgmentValidationError: there is no such dataset, or a row does not fit its schema; then none is added.
        StoreError: it could not be read or written.
    """
    with store.open_writer() as writer:
        state = commit_edits(read_state(store, name), writer)
        tally, old = LineDigest(), state.tip.count
        with state.open(ROWS) as file:
            pieces = chain(tally.pieces(file), tally.lines(_to_lines(state.schema, rows)))
            writer.replace(DATASETS, (name,), ROWS, pieces=pieces)
        if not (new := tally.count):
            return state
        tally.count += old
        runs: tuple[Run, ...] = ((0, old), new) if old else (new,)
        return append_version(state, next_head(state, runs, tally), writer)


def delete_dataset(store: Store, name: str, dependents: Dependents | None) -> bool:
    """Delete the test configs of a dataset, then the dataset with all its versions, and its candidates.

    Returns:
        Whether there was a dataset, or candidates of one.

    Raises:
        StoreError: it could not be written.
    """
    if dependents and (card := next(store.read(DATASETS, (name,)), None)):
        dependents.delete(card.id, name)
    # The test configs go first: a crash in between leaves a dataset without configs, but no config without a dataset.
    with store.open_writer() as writer:
        all_kinds: tuple[Kind[Any], ...] = (DATASETS, CANDIDATES)
        kinds = [kind for kind in all_kinds if (name,) in store.list_keys(kind)]
        for kind in kinds:
            writer.update(kind, (name,), lambda _: [])
        return bool(kinds)


def _to_lines(schema: Schema, rows: Iterable[LocatedRow]) -> Iterator[bytes]:
    """The stored form of rows."""
    lines = ((place, row if isinstance(row, str) else schema.line(row)) for place, row in rows)
    try:
        yield from check_items(lines, place=str)
    except StoreError as error:
        raise JudgmentValidationError(error.message, advice=f"Nothing was added. {error.advice}") from None
