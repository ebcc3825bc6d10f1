"""`client.datasets`: create, get, list and delete datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from scoregate.datasets import changes
from scoregate.datasets.changes import Dependents, LocatedRow
from scoregate.datasets.dataset import Dataset, to_rows
from scoregate.datasets.files import infer_file_schema, locate_examples, read_rows
from scoregate.datasets.schema import Example, Schema, infer_schema, parse_schema
from scoregate.datasets.state import read_document
from scoregate.datasets.versions import DatasetVersion, all_versions
from scoregate.errors import InvalidDataset, StoreError
from scoregate.store.dataset_history import read_history, read_newest
from scoregate.store.datasets import DATASETS, HISTORY, Head, StoredDataset
from scoregate.store.protocol import Store


def find_name(store: Store, name_or_id: str) -> str:
    """The name of the dataset with this name or id; the argument itself if there is none.

    Raises:
        StoreError: a document cannot be read.
    """
    if next(store.read(DATASETS, (name_or_id,)), None) is not None:
        return name_or_id
    cards = (card for (name,) in store.list_keys(DATASETS) if (card := read_document(store, name)))
    return next((card.name for card in cards if card.id == name_or_id), name_or_id)


def read_current(store: Store, name: str) -> tuple[StoredDataset, Head]:
    """A dataset and its newest version. The end of the history is enough, except after a merge.

    Raises:
        StoreError: it cannot be read.
    """
    card, file = read_document(store, name), store.open(DATASETS, (name,), HISTORY)
    where = store.location(DATASETS, (name,), HISTORY)
    if card is None or file is None:
        raise StoreError(f"{where} is missing", advice="Bring it back, or delete the whole folder.")
    with file:
        if (head := read_newest(file)) is None:
            file.seek(0)
            head = read_history(file, origin=where).tip
    if head is None:
        raise StoreError(f"{where} has no version", advice="Bring it back: git log shows who changed it.")
    return card, head


_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """A dataset in a list.

    Args:
        dataset_id: unique.
        name: unique in the store.
        created_at: the time of its creation.
        entries: the number of examples in the newest version; manual edits count from the next use.
        current_version: the number of the newest version.
        test_config_count: how many test configs use it.
        schema: a JSON Schema.
        description: a description for people.
    """

    dataset_id: str
    name: str
    created_at: datetime
    entries: int
    current_version: int
    test_config_count: int
    schema: Mapping[str, Any]
    description: str = ""


@dataclass(frozen=True, slots=True)
class Datasets:
    """The datasets of a store. `dependents` are the test configs that use them."""

    store: Store
    dependents: Dependents | None = None

    def create(
        self,
        name: str,
        schema: Mapping[str, Any] | None = None,
        examples: Iterable[Example | Mapping[str, Any]] = (),
        overwrite: bool = False,
        *,
        description: str = "",
    ) -> Dataset:
        """Create a dataset whose version 1 has these examples.

        Args:
            name: the name, at most 200 characters.
            schema: a JSON Schema of an object; its properties are the columns. Default: inferred from the examples.
            examples: `Example`s, or mappings of fields.
            overwrite: replace a dataset of this name with all its versions.
            description: a description for people.

        Raises:
            JudgmentConflictError: the name is in use.
            InvalidDataset: the schema or the name is invalid; also a ValueError.
            TypeError: an example is invalid.
            JudgmentValidationError: an example does not fit the schema, or test configs use the dataset to replace.
            StoreError: it cannot be written.
        """
        given = parse_schema(schema) if schema is not None else None
        rows = list(to_rows(examples, given))
        return self._create(name, given or infer_schema(rows), lambda _: locate_examples(rows), overwrite, description)

    def create_from(
        self,
        name: str,
        file_path: str | Path,
        schema: Mapping[str, Any] | None = None,
        overwrite: bool = False,
        *,
        description: str = "",
    ) -> Dataset:
        """Create a dataset from a file.

        Args:
            name: the name, at most 200 characters.
            file_path: a CSV, JSON, JSON lines or YAML file; its suffix gives the format.
            schema: a JSON Schema of an object; its properties are the columns. Default: inferred from the file, where
                cells of CSV are text.
            overwrite: replace a dataset of this name with all its versions.
            description: a description for people.

        Raises:
            InvalidDataset: the file cannot be read or is invalid. Otherwise as `create`.
        """
        path = Path(file_path)
        columns = parse_schema(schema) if schema is not None else infer_file_schema(path)
        return self._create(name, columns, lambda known: read_rows(path, known), overwrite, description)

    def get(self, name: str, version: int | str | None = None) -> Dataset:
        """A dataset by its name or id, at a version by its number or its id as text; default: the newest.

        Raises:
            JudgmentValidationError: there is no such dataset.
            InvalidDataset: there is no such version.
            StoreError: it cannot be read.
        """
        return Dataset(self.store, find_name(self.store, name), version, dependents=self.dependents)

    def list(self) -> list[DatasetInfo]:
        """All datasets, sorted by name. Their rows are not read.

        Raises:
            StoreError: one cannot be read.
        """
        datasets = [read_current(self.store, name) for (name,) in self.store.list_keys(DATASETS)]
        counts = self.dependents.counts() if datasets and self.dependents else {}
        return [
            DatasetInfo(
                card.id,
                card.name,
                card.created_at,
                head.count,
                head.version,
                sum(counts.get(key, 0) for key in {card.id, card.name}),
                card.document,
                card.description,
            )
            for card, head in datasets
        ]

    def versions(self, name: str) -> tuple[DatasetVersion, ...]:
        """All versions of a dataset, the newest first; as `get`."""
        return tuple(all_versions(self.store, find_name(self.store, name)))

    def delete(self, name: str) -> bool:
        """Delete a dataset, by its name or id, with all its versions and the test configs that use it.

        Returns:
            Whether there was one.

        Raises:
            StoreError: it could not be written.
        """
        return changes.delete_dataset(self.store, find_name(self.store, name), self.dependents)

    def _create(
        self,
        name: str,
        schema: Schema,
        rows: Callable[[Schema], Iterator[LocatedRow]],
        overwrite: bool,
        description: str,
    ) -> Dataset:
        if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
            raise InvalidDataset(f"a dataset needs a name of at most {_LONGEST_NAME} characters, not {name!r:.60}")
        card = changes.new_document(name, schema, description)
        changes.create_dataset(
            self.store, card, rows(schema), schema=schema, overwrite=overwrite, dependents=self.dependents
        )
        return Dataset(self.store, name, dependents=self.dependents)
