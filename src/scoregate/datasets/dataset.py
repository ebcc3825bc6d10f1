"""A dataset at one version, and the methods that add to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from scoregate.datasets import changes
from scoregate.datasets.files import locate_examples, read_rows
from scoregate.datasets.schema import Example, Schema
from scoregate.datasets.state import load_state
from scoregate.datasets.versions import DatasetVersion, all_versions, find_head, open_version, to_version
from scoregate.store.json_lines import encode_row
from scoregate.store.protocol import Store


class Dataset:
    """Examples with a schema. `len` is their number. Iterating streams them from the store.

    `version` is the version that is read: the requested one or the newest at the time of opening. `add_…` methods set
    it to the new version. `current_version` is the number of the newest version. Changes by other processes are not
    visible.
    """

    def __init__(
        self, store: Store, name: str, version: int | str | None = None, *, dependents: changes.Dependents | None = None
    ) -> None:
        state = load_state(store, name)
        self.dataset_id, self.name, self.description = state.card.id, name, state.card.description
        self.created_at, self.schema = state.card.created_at, state.card.document
        self.version, self.current_version = to_version(state, find_head(state, version)), state.tip.version
        self._store, self._dependents = store, dependents

    @property
    def examples(self) -> list[Example]:
        """All examples of this version, in memory."""
        return list(self)

    def __iter__(self) -> Iterator[Example]:
        return open_version(self._store, self.name, self.version.version_id)[1]

    def __len__(self) -> int:
        return self.version.item_count

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, version={self.version.version_number}, examples={len(self)})"

    def add_examples(self, examples: Iterable[Example | Mapping[str, Any]], batch_size: int = 100) -> None:  # noqa: ARG002
        """Add examples as one new version: all, or none if one is invalid.

        Args:
            examples: `Example`s, or mappings of fields; read once.
            batch_size: accepted and ignored; all examples are one batch.

        Raises:
            TypeError: the argument is a single example, or contains something else.
            JudgmentValidationError: an example does not fit the schema.
            StoreError: it cannot be written.
        """
        self._add(locate_examples(to_rows(examples, Schema(self.version.columns))))

    def add_from_json(self, file_path: str | Path, batch_size: int = 100) -> None:  # noqa: ARG002
        """Add the objects of a JSON file, a list or an object with a list under `examples`, as `add_examples`.

        Args:
            file_path: the file.
            batch_size: accepted and ignored; all examples are one batch.

        Raises:
            InvalidDataset: the file cannot be read or is invalid.
        """
        self.add_from(file_path, kind=".json")

    def add_from_jsonl(self, file_path: str | Path) -> None:
        """Add the objects of a JSON lines file, as `add_from_json`. They are streamed."""
        self.add_from(file_path, kind=".jsonl")

    def add_from_yaml(self, file_path: str | Path, batch_size: int = 100) -> None:  # noqa: ARG002
        """Add the objects of a YAML file, as `add_from_json`.

        Raises:
            MissingExtra: PyYAML is not installed.
        """
        self.add_from(file_path, kind=".yaml")

    def add_from_csv(self, file_path: str | Path) -> None:
        """Add the rows of a CSV file with a header, as `add_from_json`. They are streamed."""
        self.add_from(file_path, kind=".csv")

    def add_from(self, file_path: str | Path, *, kind: str = "") -> None:
        """Add the rows of a file. Its suffix, or the suffix in `kind`, decides the format."""
        self._add(read_rows(Path(file_path), Schema(self.version.columns), kind=kind))

    def versions(self) -> list[DatasetVersion]:
        """All versions, the newest first."""
        return all_versions(self._store, self.name)

    def save_as(
        self, file_type: Literal["json", "yaml"], dir_path: str | Path = ".", save_name: str | None = None
    ) -> Path:
        """Write all examples to a file that `add_from_json` or `add_from_yaml` can read.

        Args:
            file_type: `json` or `yaml`.
            dir_path: the folder of the file.
            save_name: the name of the file without its suffix; by default that of the dataset.

        Returns:
            The path of the file.

        Raises:
            ValueError: the type is unknown.
            OSError: the file cannot be written.
            MissingExtra: PyYAML is not installed.
        """
        if file_type not in ("json", "yaml"):
            raise ValueError(f"file_type must be 'json' or 'yaml', not {file_type!r:.60}")
        rows = {"examples": [example.row(Schema(self.version.columns)) for example in self]}
        # The name of a dataset may have slashes.
        safe_name = "".join(char if char.isalnum() or char in "-_ ." else "_" for char in self.name).lstrip(".")
        path = Path(dir_path) / f"{save_name or safe_name or 'dataset'}.{file_type}"
        if file_type == "json":
            text = json.dumps(rows, ensure_ascii=False, indent=2) + "\n"
        else:
            from scoregate.datasets.files import dump_yaml

            text = dump_yaml(rows)
        path.parent.mkdir(parents=True, exist_ok=True)
        # YAML and JSON with `ensure_ascii=False` keep lone surrogates.
        path.write_bytes(text.encode("utf-8", "backslashreplace"))
        return path

    def display(self, max_examples: int = 5) -> None:
        """Print the name, the version and the first examples, without terminal control characters."""
        print(f"{self.name!r}, version {self.version.version_number}, {len(self)} examples")
        for example in islice(self, max_examples):
            print(f"{example.example_id:>6}  {encode_row(example.row(Schema(self.version.columns))).decode()}")

    def delete(self) -> bool:
        """Delete the dataset with all its versions and the test configs that use it; return whether it existed."""
        return changes.delete_dataset(self._store, self.name, self._dependents)

    def _add(self, rows: Iterable[changes.LocatedRow]) -> None:
        state = changes.add_rows(self._store, self.name, rows)
        self.version, self.current_version = to_version(state, state.tip), state.tip.version


def to_rows(
    examples: Iterable[Example | Mapping[str, Any]], schema: Schema | None = None
) -> Iterator[Mapping[str, Any]]:
    """Examples as rows of a dataset.

    Raises:
        TypeError: the argument is a single example, or contains something else.
    """
    if isinstance(examples, Example | Mapping | str | bytes):
        raise TypeError(f"examples must be several, such as a list, not one {type(examples).__name__}")
    return (_to_row(example, schema) for example in examples)


def _to_row(example: object, schema: Schema | None) -> Mapping[str, Any]:
    if isinstance(example, Example):
        return example.row(schema or Schema({}))
    if isinstance(example, Mapping):
        return example
    raise TypeError(f"an example must be an Example or an object of fields, not {type(example).__name__}")
