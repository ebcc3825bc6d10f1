"""What changes a dataset: it is made, rows are added, it is deleted. Each is one step for everybody else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Protocol
from uuid import uuid4

from scoregate.datasets.schema import Schema
from scoregate.datasets.state import State, following, healed, look, recorded
from scoregate.errors import JudgmentConflictError, JudgmentValidationError, StoreError
from scoregate.store.blocks import Tally
from scoregate.store.datasets import DATASETS, HISTORY, ROWS, StoredDataset
from scoregate.store.deltas import Run
from scoregate.store.history import History
from scoregate.store.problems import sound
from scoregate.store.protocol import Store, Writer

# A row and what people call its place, such as "rows.csv, row 3"; instead of a row, what is wrong with it.
Placed = tuple[str, Mapping[str, Any] | str]


class Dependents(Protocol):
    """What uses datasets and is kept elsewhere: test configs."""

    def of(self, dataset_id: str, name: str) -> Sequence[str]:
        """The names of those that use a dataset, by its id or its name."""

    def counts(self) -> Mapping[str, int]:
        """How many use each dataset, by its id or its name, whichever they say."""

    def delete(self, dataset_id: str, name: str) -> None:
        """Delete them."""


def create(
    store: Store,
    card: StoredDataset,
    rows: Iterable[Placed],
    *,
    schema: Schema,
    overwrite: bool,
    dependents: Dependents | None,
) -> State:
    """Make a dataset, whose first version has these rows.

    Raises:
        JudgmentConflictError: there is one of this name, and `overwrite` is not set.
        JudgmentValidationError: a row does not fit the schema, or test configs use the dataset of this name.
        StoreError: it could not be written.
    """
    state = State(store, card, schema, History({}, {}, 0), "")
    lines = list(_lines(schema, rows)) if overwrite else _lines(schema, rows)
    with store.writing() as writer:
        if (there := next(store.read(DATASETS, (card.name,)), None)) is not None:
            _check_free(there, overwrite, dependents)
            writer.update(DATASETS, (card.name,), lambda _: [])
        return _made(state, lines, writer)


def new_card(name: str, schema: Schema, description: str) -> StoredDataset:
    """The card of a dataset that begins now."""
    now = datetime.now(UTC)
    return StoredDataset(id=str(uuid4()), name=name, description=description, schema=schema.document, created_at=now)


def add(store: Store, name: str, rows: Iterable[Placed]) -> State:
    """Add rows to a dataset, as one new version; none where there are no rows.

    Raises:
        JudgmentValidationError: there is no such dataset, or a row does not fit its schema; then none is added.
        StoreError: it could not be read or written.
    """
    with store.writing() as writer:
        state = healed(look(store, name), writer)
        tally, old = Tally(), state.tip.count
        with state.open(ROWS) as file:
            pieces = chain(tally.pieces(file), tally.lines(_lines(state.schema, rows)))
            writer.replace(DATASETS, (name,), ROWS, pieces=pieces)
        if not (new := tally.count):
            return state
        tally.count += old
        runs: tuple[Run, ...] = ((0, old), new) if old else (new,)
        return recorded(state, following(state, runs, tally), writer)


def delete(store: Store, name: str, dependents: Dependents | None) -> bool:
    """Delete a dataset with all its versions, after what depends on it; whether there was one.

    Raises:
        StoreError: it could not be written.
    """
    if dependents and (card := next(store.read(DATASETS, (name,)), None)):
        dependents.delete(card.id, name)
    with store.writing() as writer:
        there = (name,) in store.shelves(DATASETS)
        if there:
            writer.update(DATASETS, (name,), lambda _: [])
        return there


def _check_free(there: StoredDataset, overwrite: bool, dependents: Dependents | None) -> None:
    if not overwrite:
        raise JudgmentConflictError(
            f"there is a dataset {there.name!r:.200} already", advice="Give overwrite=True to replace it."
        )
    if dependents and (names := dependents.of(there.id, there.name)):
        raise JudgmentValidationError(
            f"the dataset {there.name!r:.200} cannot be replaced: test configs use it: {', '.join(names):.300}",
            advice="Delete them first, or add to the dataset.",
        )


def _made(state: State, lines: Iterable[bytes], writer: Writer) -> State:
    """The card comes last: until then there is no dataset."""
    shelf, tally = (state.card.name,), Tally()
    writer.replace(DATASETS, shelf, ROWS, pieces=tally.lines(lines))
    writer.replace(DATASETS, shelf, HISTORY, pieces=[])
    made = recorded(state, following(state, (tally.count,) if tally.count else (), tally), writer)
    writer.update(DATASETS, shelf, lambda _: [state.card])
    return made


def _lines(schema: Schema, rows: Iterable[Placed]) -> Iterator[bytes]:
    """The rows as they are kept."""
    found = ((place, row if isinstance(row, str) else schema.line(row)) for place, row in rows)
    try:
        yield from sound(found, place=str)
    except StoreError as error:
        raise JudgmentValidationError(error.message, advice=f"Nothing was added. {error.advice}") from None
