"""`client.datasets`: making, finding, listing and deleting datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from scoregate.datasets import changes
from scoregate.datasets.changes import Dependents, Placed
from scoregate.datasets.dataset import Dataset, as_rows
from scoregate.datasets.example import Example
from scoregate.datasets.files import given, rows_of, schema_in
from scoregate.datasets.listing import current, named
from scoregate.datasets.schema import Schema, inferred, schema_of
from scoregate.datasets.versions import DatasetVersion, all_versions
from scoregate.errors import InvalidDataset
from scoregate.store.datasets import DATASETS, Head, StoredDataset
from scoregate.store.protocol import Store

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """A dataset in a list.

    Args:
        entries: examples in the newest version, whose number `current_version` is. An edit by hand counts from when
            the dataset is next used. test_config_count: how many test configs use it. schema: a JSON Schema.
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
        """Make a dataset whose version 1 has these examples.

        Args:
            schema: a JSON Schema of an object; its properties are the columns. Found from the examples if not given.
            examples: `Example`s, or objects of fields. overwrite: replace the dataset of this name, and its versions.

        Raises:
            JudgmentConflictError: there is one of this name. InvalidDataset: the schema is none, cannot be found from
                the examples, or the name is none; also a ValueError. TypeError: an example is none.
            JudgmentValidationError: an example does not fit the schema, or test configs use the one to be replaced.
            StoreError: it could not be written.
        """
        wanted = schema_of(schema) if schema is not None else None
        rows = list(as_rows(examples, wanted))
        return self._create(name, wanted or inferred(rows), lambda _: given(rows), overwrite, description)

    def create_from(
        self,
        name: str,
        file_path: str | Path,
        schema: Mapping[str, Any] | None = None,
        overwrite: bool = False,
        *,
        description: str = "",
    ) -> Dataset:
        """Make a dataset of the rows of a CSV, JSON, JSON lines or YAML file; without a schema, cells of CSV are text.

        Raises:
            InvalidDataset: the file cannot be read or is none such. Else as `create`.
        """
        path = Path(file_path)
        wanted = schema_of(schema) if schema is not None else schema_in(path)
        return self._create(name, wanted, lambda known: rows_of(path, known), overwrite, description)

    def get(self, name: str, version: int | str | None = None) -> Dataset:
        """A dataset, by its name or id, at a version, by its number or its id as text; at the newest if not given.

        Raises:
            JudgmentValidationError: there is no such dataset. InvalidDataset: there is no such version.
            StoreError: it cannot be read.
        """
        return Dataset(self.store, named(self.store, name), version, dependents=self.dependents)

    def list(self) -> list[DatasetInfo]:
        """All datasets, by name; their rows are not read.

        Raises:
            StoreError: one cannot be read.
        """
        found = [current(self.store, name) for (name,) in self.store.shelves(DATASETS)]
        counts = self.dependents.counts() if found and self.dependents else {}
        return [_info(card, head, counts) for card, head in found]

    def versions(self, name: str) -> tuple[DatasetVersion, ...]:
        """All versions of a dataset, the newest first; as `get`."""
        return tuple(all_versions(self.store, named(self.store, name)))

    def delete(self, name: str) -> bool:
        """Delete a dataset, by its name or id, with all its versions and the test configs that use it.

        Returns:
            Whether there was one.

        Raises:
            StoreError: it could not be written.
        """
        return changes.delete(self.store, named(self.store, name), self.dependents)

    def _create(
        self, name: str, schema: Schema, rows: Callable[[Schema], Iterator[Placed]], overwrite: bool, description: str
    ) -> Dataset:
        if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
            raise InvalidDataset(f"a dataset needs a name of at most {_LONGEST_NAME} characters, not {name!r:.60}")
        card = changes.new_card(name, schema, description)
        changes.create(self.store, card, rows(schema), schema=schema, overwrite=overwrite, dependents=self.dependents)
        return Dataset(self.store, name, dependents=self.dependents)


def _info(card: StoredDataset, head: Head, counts: Mapping[str, int]) -> DatasetInfo:
    count = sum(counts.get(said, 0) for said in {card.id, card.name})
    document, words = card.document, card.description
    return DatasetInfo(card.id, card.name, card.created_at, head.count, head.version, count, document, words)
