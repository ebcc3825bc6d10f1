"""A dataset as it stands: its card, its versions, its rows; and hand edits, which become a version when next used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import BinaryIO

from scoregate.datasets.schema import Schema, schema_of
from scoregate.errors import InvalidDataset, JudgmentValidationError, ReadOnlyStore, StoreError
from scoregate.store.blocks import Tally, digest_of, entries, rows_at
from scoregate.store.datasets import DATASETS, HISTORY, ROWS, Head, StoredDataset
from scoregate.store.deltas import Run, runs_between
from scoregate.store.history import History, read_history
from scoregate.store.problems import sound
from scoregate.store.protocol import Store, Writer
from scoregate.store.rows import parsed


@dataclass(frozen=True, slots=True)
class State:
    """A dataset at one moment. `digest` is that of its rows' file."""

    store: Store
    card: StoredDataset
    schema: Schema
    history: History
    digest: str

    @property
    def tip(self) -> Head:
        """The newest version.

        Raises:
            StoreError: there is none.
        """
        if (tip := self.history.tip) is None:
            raise StoreError(
                f"{self.where(HISTORY)} has no version", advice="Bring it back: git log shows who changed it."
            )
        return tip

    @property
    def settled(self) -> bool:
        """Whether the rows are those of the newest version."""
        return self.digest == self.tip.digest and self.schema.columns == self.tip.columns

    def where(self, beside: str) -> str:
        """How people find one of its files."""
        return self.store.where(DATASETS, (self.card.name,), beside)

    def open(self, beside: str) -> BinaryIO:
        """One of its files.

        Raises:
            StoreError: it is not there.
        """
        if (file := self.store.open(DATASETS, (self.card.name,), beside)) is None:
            raise StoreError(f"{self.where(beside)} is missing", advice="Bring it back, or delete the whole folder.")
        return file


def card_of(store: Store, name: str) -> StoredDataset | None:
    """The card of a dataset; None where there is no dataset of this name.

    Raises:
        StoreError: it cannot be read, or tells another name.
    """
    card = next(store.read(DATASETS, (name,)), None)
    if card is not None and card.name != name:
        raise StoreError(
            f"{store.where(DATASETS, (name,))}: its name is {card.name!r:.60}, its folder's {name!r:.60}",
            advice="A dataset is copied or renamed by both; a copy needs an id of its own, too.",
        )
    return card


def look(store: Store, name: str) -> State:
    """A dataset as it stands in its files, settled or not.

    Raises:
        JudgmentValidationError: there is no dataset of this name. StoreError: it cannot be read.
    """
    if (card := card_of(store, name)) is None:
        names = ", ".join(shelf[0] for shelf in islice(store.shelves(DATASETS), 20))
        raise JudgmentValidationError(
            f"there is no dataset {name!r:.200}", advice=f"There are {names}." if names else "There are none."
        )
    state = State(store, card, _schema(store, card), History({}, {}, 0), "")
    with state.open(HISTORY) as file:
        history = read_history(file, origin=state.where(HISTORY))
    with state.open(ROWS) as file:
        return replace(state, history=history, digest=digest_of(file))


def settle(store: Store, name: str) -> State:
    """A dataset whose newest version has the rows of its file; where nothing can be written, that is not kept.

    Raises:
        JudgmentValidationError: there is no dataset of this name.
        StoreError: it cannot be read, or what was edited by hand is wrong; with each line.
    """
    if (state := look(store, name)).settled:
        return state
    try:
        with store.writing() as writer:
            return healed(look(store, name), writer)
    except ReadOnlyStore:
        return healed(state, None)


def healed(state: State, writer: Writer | None) -> State:
    """The same with a version made of what was edited by hand; without a writer it is not kept.

    Raises:
        StoreError: a row is wrong.
    """
    if state.settled:
        return state
    tally = Tally()
    with state.open(ROWS) as file:
        runs = runs_between(_lines(state), (line[:-1] for line in tally.lines(_checked(state, file))))
    if writer and tally.digest != state.digest:
        with state.open(ROWS) as file:
            ends = (line + b"\n" for line in _checked(state, file))
            writer.replace(DATASETS, (state.card.name,), ROWS, pieces=ends)
    if tally.digest == state.tip.digest and state.schema.columns == state.tip.columns:
        return replace(state, digest=tally.digest) if writer else state
    head = following(state, runs, tally)
    if writer:
        return recorded(state, head, writer)
    return replace(state, history=state.history.followed_by(head))


def edited_lines(state: State, head: Head) -> Iterator[bytes]:
    """The rows of a version that is not kept, from their file.

    Raises:
        StoreError: they are others by now.
    """
    tally = Tally()
    with state.open(ROWS) as file:
        yield from (line[:-1] for line in tally.lines(_checked(state, file)))
    if tally.digest != head.digest:
        raise StoreError(f"{state.where(ROWS)} was changed while it was read", advice="Try again.")


def following(state: State, runs: Iterable[Run], tally: Tally) -> Head:
    """The version after the newest, or the first."""
    tip, rows, columns = state.history.tip, tuple(runs), state.schema.columns
    version, parent = (tip.version + 1, tip.id) if tip else (1, None)
    said = json.dumps([state.card.id, parent, version, list(columns.items()), tally.digest])
    number = int.from_bytes(hashlib.blake2b(said.encode(), digest_size=6).digest()) | 1 << 47
    return Head(
        version=version,
        id=number,
        parent=parent,
        created_at=datetime.now(UTC),
        count=tally.count,
        digest=tally.digest,
        columns=columns,
        rows=rows,
        start=0,
    )


def recorded(state: State, head: Head, writer: Writer) -> State:
    """The same with a version added to its history; its rows are in their file already.

    Raises:
        StoreError: it could not be written, or the rows are not those of the version.
    """
    with state.open(ROWS) as file:
        pieces = entries(head, (line.rstrip(b"\n") for line in file), start=state.history.end)
        writer.extend(DATASETS, (state.card.name,), HISTORY, pieces=pieces, start=state.history.end)
    with state.open(HISTORY) as file:
        return replace(state, history=read_history(file, origin=state.where(HISTORY)), digest=head.digest)


def _schema(store: Store, card: StoredDataset) -> Schema:
    try:
        return schema_of(card.document)
    except InvalidDataset as error:
        raise StoreError(f"{store.where(DATASETS, (card.name,))}: {error.message}", advice=error.advice) from None


def _lines(state: State) -> Iterator[bytes]:
    """The rows of the newest version."""
    with state.open(HISTORY) as file:
        yield from rows_at(file, state.tip, state.history.layout(state.tip)[1], origin=state.where(HISTORY))


def _checked(state: State, file: BinaryIO) -> Iterator[bytes]:
    """The rows of the file as they should stand there."""
    numbered = ((number, _line(state.schema, line, number)) for number, line in enumerate(file, 1))
    yield from sound(numbered, place=f"{state.where(ROWS)}:{{}}".format)


def _line(schema: Schema, line: bytes, number: int) -> bytes | str | None:
    row = parsed(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
    return schema.line(row) if isinstance(row, dict) else row
