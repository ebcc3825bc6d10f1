"""The state of a dataset: its document, versions and rows. Manual edits become a version at the next use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import BinaryIO

from scoregate.datasets.schema import Schema, parse_schema
from scoregate.errors import InvalidDataset, JudgmentValidationError, ReadOnlyStore, StoreError
from scoregate.kernel.types.text import suggest_names
from scoregate.store.candidates import count_waiting
from scoregate.store.dataset_history import History, LineDigest, file_digest, history_entries, read_history, read_rows
from scoregate.store.datasets import DATASETS, HISTORY, ROWS, Head, Run, StoredDataset, find_runs
from scoregate.store.errors import check_items
from scoregate.store.protocol import Store, Writer
from scoregate.store.tables import read_json_lines


@dataclass(frozen=True, slots=True)
class DatasetState:
    """The state of a dataset. `digest` is that of the file of its rows."""

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
    def is_current(self) -> bool:
        """Whether the rows are those of the newest version."""
        return self.digest == self.tip.digest and self.schema.columns == self.tip.columns

    def where(self, file_name: str) -> str:
        """The path of one of its files, for messages."""
        return self.store.location(DATASETS, (self.card.name,), file_name)

    def open(self, file_name: str) -> BinaryIO:
        """One of its files.

        Raises:
            StoreError: it does not exist.
        """
        if (file := self.store.open(DATASETS, (self.card.name,), file_name)) is None:
            raise StoreError(f"{self.where(file_name)} is missing", advice="Bring it back, or delete the whole folder.")
        return file


def read_document(store: Store, name: str) -> StoredDataset | None:
    """The document of a dataset; None if there is no dataset of this name.

    Raises:
        StoreError: it cannot be read, or contains another name.
    """
    card = next(store.read(DATASETS, (name,)), None)
    if card is not None and card.name != name:
        raise StoreError(
            f"{store.location(DATASETS, (name,))}: its name is {card.name!r:.60}, its folder's {name!r:.60}",
            advice="A dataset is copied or renamed by both; a copy needs an id of its own, too.",
        )
    return card


def read_state(store: Store, name: str) -> DatasetState:
    """The state in the files of a dataset, which may have uncommitted edits.

    Raises:
        JudgmentValidationError: there is no dataset of this name.
        StoreError: it cannot be read.
    """
    if (card := read_document(store, name)) is None:
        names = [known for (known,) in store.list_keys(DATASETS)]
        waiting = count_waiting(store, name)
        rows = f"; rows that wait for `scoregate review --dataset`: {waiting:,}" if waiting else ""
        raise JudgmentValidationError(
            f"there is no dataset {name!r:.200}{rows}",
            advice=suggest_names(name, names) or "`scoregate dataset add` creates one.",
        )
    try:
        schema = parse_schema(card.document)
    except InvalidDataset as error:
        raise StoreError(f"{store.location(DATASETS, (card.name,))}: {error.message}", advice=error.advice) from None
    state = DatasetState(store, card, schema, History({}, {}, 0), "")
    with state.open(HISTORY) as file:
        history = read_history(file, origin=state.where(HISTORY))
    with state.open(ROWS) as file:
        return replace(state, history=history, digest=file_digest(file))


def load_state(store: Store, name: str) -> DatasetState:
    """The state of a dataset after its manual edits are committed. In a read-only store they are not written.

    Raises:
        JudgmentValidationError: there is no dataset of this name.
        StoreError: it cannot be read, or an edited row is invalid.
    """
    if (state := read_state(store, name)).is_current:
        return state
    try:
        with store.open_writer() as writer:
            # Read again: another process may have committed the edits before the lock.
            return commit_edits(read_state(store, name), writer)
    except ReadOnlyStore:
        return commit_edits(state, None)


def commit_edits(state: DatasetState, writer: Writer | None) -> DatasetState:
    """The state with a version of the manual edits. Without a writer the version is not stored.

    Raises:
        StoreError: a row is invalid.
    """
    if state.is_current:
        return state
    tally = LineDigest()
    with state.open(ROWS) as file:
        runs = find_runs(_read_lines(state), (line[:-1] for line in tally.lines(_check_lines(state, file))))
    if writer and tally.digest != state.digest:  # else a file in another spelling would be checked again at each use
        with state.open(ROWS) as file:
            ends = (line + b"\n" for line in _check_lines(state, file))
            writer.replace(DATASETS, (state.card.name,), ROWS, pieces=ends)
    if tally.digest == state.tip.digest and state.schema.columns == state.tip.columns:
        return replace(state, digest=tally.digest) if writer else state
    head = next_head(state, runs, tally)
    if writer:
        return append_version(state, head, writer)
    return replace(state, history=state.history.followed_by(head))


def read_edited_lines(state: DatasetState, head: Head) -> Iterator[bytes]:
    """The rows of a version that is not stored, from their file.

    Raises:
        StoreError: the file changed while it was read.
    """
    tally = LineDigest()
    with state.open(ROWS) as file:
        yield from (line[:-1] for line in tally.lines(_check_lines(state, file)))
    if tally.digest != head.digest:
        raise StoreError(f"{state.where(ROWS)} was changed while it was read", advice="Try again.")


def next_head(state: DatasetState, runs: Iterable[Run], tally: LineDigest) -> Head:
    """The next version, or the first."""
    tip, rows, columns = state.history.tip, tuple(runs), state.schema.columns
    version, parent = (tip.version + 1, tip.id) if tip else (1, None)
    identity = json.dumps([state.card.id, parent, version, list(columns.items()), tally.digest])
    # Made of the content, so that two branches with the same edit make the same version.
    number = int.from_bytes(hashlib.blake2b(identity.encode(), digest_size=6).digest()) | 1 << 47
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


def append_version(state: DatasetState, head: Head, writer: Writer) -> DatasetState:
    """The state with a version added to its history. Its rows are already in their file.

    Raises:
        StoreError: the history cannot be written, or the rows are not those of the version.
    """
    with state.open(ROWS) as file:
        pieces = history_entries(head, (line.rstrip(b"\n") for line in file), start=state.history.end)
        writer.extend(DATASETS, (state.card.name,), HISTORY, pieces=pieces, start=state.history.end)
    with state.open(HISTORY) as file:
        return replace(state, history=read_history(file, origin=state.where(HISTORY)), digest=head.digest)


def _read_lines(state: DatasetState) -> Iterator[bytes]:
    """The rows of the newest version."""
    with state.open(HISTORY) as file:
        yield from read_rows(file, state.tip, state.history.layout(state.tip)[1], origin=state.where(HISTORY))


def _check_lines(state: DatasetState, file: BinaryIO) -> Iterator[bytes]:
    """The rows of the file in their stored form."""
    numbered = (
        (number, state.schema.line(row) if isinstance(row, dict) else row) for number, row in read_json_lines(file)
    )
    yield from check_items(numbered, place=f"{state.where(ROWS)}:{{}}".format)
