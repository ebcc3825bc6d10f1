"""A dataset as programs hold it: one version of it, until they add to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from scoregate.datasets import changes
from scoregate.datasets.example import Example
from scoregate.datasets.files import given, rows_of
from scoregate.datasets.schema import Schema
from scoregate.datasets.state import settle
from scoregate.datasets.versions import DatasetVersion, all_versions, head_of, open_version, version_of
from scoregate.store.protocol import Store
from scoregate.store.rows import line_of


class Dataset:
    """Examples with a schema. `len` is their number, iterating reads them from the store one by one.

    `version` is the one that is read: the newest when the dataset was opened, or the one that was asked for; after
    adding it is the one that adding made. What others add meanwhile is not seen.
    """

    def __init__(
        self, store: Store, name: str, version: int | str | None = None, *, dependents: changes.Dependents | None = None
    ) -> None:
        state = settle(store, name)
        self.dataset_id, self.name, self.description = state.card.id, name, state.card.description
        self.created_at, self.schema = state.card.created_at, state.card.document
        self.version = version_of(state, head_of(state, version))
        self._store, self._dependents = store, dependents

    @property
    def examples(self) -> list[Example]:
        """All examples of this version, in memory."""
        return list(self)

    def __iter__(self) -> Iterator[Example]:
        return open_version(self._store, self.name, str(self.version.version_id))[1]

    def __len__(self) -> int:
        return self.version.item_count

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, version={self.version.version_number}, examples={len(self)})"

    def add_examples(self, examples: Iterable[Example | Mapping[str, Any]], batch_size: int = 100) -> None:  # noqa: ARG002
        """Add examples, or objects of fields, as one new version; all, or none if one is wrong.

        Args:
            examples: read once. batch_size: taken for the sake of callers that give it; all are one batch.

        Raises:
            TypeError: it is one example, or something in it is none.
            JudgmentValidationError: an example does not fit the schema. StoreError: it could not be written.
        """
        self._add(given(as_rows(examples, Schema(self.version.columns))))

    def add_from_json(self, file_path: str | Path) -> None:
        """Add the objects of a list in a file, or of the list under `examples`, as `add_examples`.

        Raises:
            InvalidDataset: the file cannot be read, or is none such.
        """
        self.add_from(file_path, kind=".json")

    def add_from_jsonl(self, file_path: str | Path) -> None:
        """Add the objects of a file, one a line, as `add_from_json`; they are streamed."""
        self.add_from(file_path, kind=".jsonl")

    def add_from_yaml(self, file_path: str | Path) -> None:
        """As `add_from_json`.

        Raises:
            MissingExtra: PyYAML is not installed.
        """
        self.add_from(file_path, kind=".yaml")

    def add_from_csv(self, file_path: str | Path) -> None:
        """Add the rows of a table with a header, as `add_from_json`; they are streamed."""
        self.add_from(file_path, kind=".csv")

    def add_from(self, file_path: str | Path, *, kind: str = "") -> None:
        """Add the rows of a file of any of these kinds, by how its name ends, or by the end that `kind` is."""
        self._add(rows_of(Path(file_path), Schema(self.version.columns), kind=kind))

    def versions(self) -> list[DatasetVersion]:
        """All versions, the newest first."""
        return all_versions(self._store, self.name)

    def save_as(
        self, file_type: Literal["json", "yaml"], dir_path: str | Path = ".", save_name: str | None = None
    ) -> Path:
        """Write all examples to a file that `add_from_json` or `add_from_yaml` takes, and return where it is.

        Raises:
            ValueError: the type is neither. OSError: it cannot be written. MissingExtra: PyYAML is not installed.
        """
        if file_type not in ("json", "yaml"):
            raise ValueError(f"file_type must be 'json' or 'yaml', not {file_type!r:.60}")
        rows = {"examples": [example.row(Schema(self.version.columns)) for example in self]}
        path = Path(dir_path) / f"{save_name or self._file_name()}.{file_type}"
        if file_type == "json":
            text = json.dumps(rows, ensure_ascii=False, indent=2) + "\n"
        else:
            from scoregate.datasets.yaml_text import to_yaml

            text = to_yaml(rows)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "backslashreplace"))
        return path

    def display(self, max_examples: int = 5) -> None:
        """Print the name, the version and the first examples, with nothing in them that steers a terminal."""
        print(f"{self.name!r}, version {self.version.version_number}, {len(self)} examples")
        for example in islice(self, max_examples):
            print(f"{example.example_id:>6}  {line_of(example.row(Schema(self.version.columns))).decode()}")

    def delete(self) -> bool:
        """Delete it with all its versions and the test configs that use it; whether it was there."""
        return changes.delete(self._store, self.name, self._dependents)

    def _file_name(self) -> str:
        return "".join(char if char.isalnum() or char in "-_ ." else "_" for char in self.name).lstrip(".") or "dataset"

    def _add(self, rows: Iterable[changes.Placed]) -> None:
        state = changes.add(self._store, self.name, rows)
        self.version = version_of(state, state.tip)


def as_rows(
    examples: Iterable[Example | Mapping[str, Any]], schema: Schema | None = None
) -> Iterator[Mapping[str, Any]]:
    """Examples as rows of a dataset.

    Raises:
        TypeError: it is one example, or something in it is none.
    """
    if isinstance(examples, Example | Mapping | str | bytes):
        raise TypeError(f"examples must be several, such as a list, not one {type(examples).__name__}")
    return (_row(example, schema) for example in examples)


def _row(example: object, schema: Schema | None) -> Mapping[str, Any]:
    if isinstance(example, Example):
        return example.row(schema or Schema({}))
    if isinstance(example, Mapping):
        return example
    raise TypeError(f"an example must be an Example or an object of fields, not {type(example).__name__}")
