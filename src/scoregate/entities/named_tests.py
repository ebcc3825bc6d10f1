"""Tests under one name: what they are about, and how they get into files and out of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

from pydantic import Field, computed_field

from scoregate.entities.files import read_tests
from scoregate.entities.measured import Measured
from scoregate.entities.test import Test
from scoregate.entities.test_types import set_type
from scoregate.entities.writing import write_csv, write_json, write_json_lines
from scoregate.enums import TestType
from scoregate.errors import EntityError
from scoregate.store import TEST_SETS, Store, current_store
from scoregate.store.test_sets import count_tests, tests_of


class NamedTests(Measured):
    """What a test set is, wherever it is. `tests` is None where they were not read."""

    __test__ = False
    kind = TEST_SETS

    description: str | None = None
    short_description: str | None = None
    tests: list[Test] | None = None
    test_set_type: TestType | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    @computed_field(repr=False)  # type: ignore[prop-decorator]
    @property
    def test_count(self) -> int:
        """How many tests there are, here or, where they were not read, in the store."""
        if self.tests is None and self.id:
            return count_tests(current_store(), self.id)
        return len(self.tests or ())

    @computed_field(repr=False)  # type: ignore[prop-decorator]
    @property
    def categories(self) -> list[str]:
        """The names of the tests' categories, sorted."""
        return self._names("category")

    @computed_field(repr=False)  # type: ignore[prop-decorator]
    @property
    def topics(self) -> list[str]:
        """The names of the tests' topics, sorted."""
        return self._names("topic")

    @computed_field(repr=False)  # type: ignore[prop-decorator]
    @property
    def behaviors(self) -> list[str]:
        """The names of the tests' behaviors, sorted."""
        return self._names("behavior")

    @property
    def requirements(self) -> list[str]:
        """The behaviors."""
        return self.behaviors

    @classmethod
    def from_csv(
        cls,
        filename: str | Path,
        name: str = "",
        description: str = "",
        short_description: str = "",
        *,
        allow_empty: bool = False,
    ) -> Self:
        """The tests of a table with the columns `prompt_content`, `category`, `topic` and `behavior`.

        Further columns may be `expected_response`, `test_type`, `language_code`, `goal`, `instructions`,
        `restrictions`, `scenario`, `min_turns`, `max_turns`, `metadata` (a JSON object), `id` and `prompt_id`; others
        are left out, with a warning. Cells are separated by commas, semicolons, tabs or vertical bars.

        Args:
            allow_empty: whether a table without tests is one.

        Raises:
            InvalidTests: all that is wrong, with its line and column. OSError: the file cannot be read.
        """
        return cls._read_from(filename, (name, description, short_description), kind=".csv", allow_empty=allow_empty)

    @classmethod
    def from_json(
        cls,
        filename: str | Path,
        name: str = "",
        description: str = "",
        short_description: str = "",
        *,
        allow_empty: bool = False,
    ) -> Self:
        """The tests of a list of objects with the fields of tests or the columns of tables; else as `from_csv`."""
        return cls._read_from(filename, (name, description, short_description), kind=".json", allow_empty=allow_empty)

    @classmethod
    def from_jsonl(
        cls,
        filename: str | Path,
        name: str = "",
        description: str = "",
        short_description: str = "",
        *,
        allow_empty: bool = False,
    ) -> Self:
        """The tests of a file with an object a line; else as `from_json`."""
        return cls._read_from(filename, (name, description, short_description), kind=".jsonl", allow_empty=allow_empty)

    def to_csv(self, filename: str | Path) -> None:
        """Write its tests as a table that `from_csv` takes.

        Raises:
            EntityError: there are none, or metadata has no form in JSON. OSError: it cannot be written.
        """
        write_csv(self._to_export(), Path(filename))

    def to_json(self, filename: str | Path, indent: int | None = 2) -> None:
        """Write its tests as a list of objects; else as `to_csv`."""
        write_json(self._to_export(), Path(filename), indent)

    def to_jsonl(self, filename: str | Path) -> None:
        """Write its tests, an object a line; else as `to_csv`."""
        write_json_lines(self._to_export(), Path(filename))

    @classmethod
    def _read_from(cls, filename: str | Path, said: tuple[str, str, str], *, kind: str, allow_empty: bool) -> Self:
        tests = list(read_tests(filename, kind=kind, allow_empty=allow_empty))
        return cls(
            name=said[0],
            description=said[1],
            short_description=said[2],
            tests=tests,
            test_set_type=set_type(tests),
        )

    def _to_export(self) -> list[Test]:
        tests = list(self._tests())
        if not tests:
            raise EntityError("Test set has no tests to export")
        return tests

    def tests_here(self) -> list[Test]:
        """Its tests; where they were not read, those in the store, which `tests` then does not keep.

        Raises:
            StoreError: they cannot be read.
        """
        return list(self._tests())

    def _tests(self) -> Iterable[Test]:
        """Those that are here or, where they were not read, those in the store."""
        if self.tests is None and self.id:
            return self._kept_tests(current_store())
        return self.tests or ()

    def _kept_tests(self, store: Store) -> Iterator[Test]:
        return map(Test.read, tests_of(store, self._own_id()))

    def _names(self, field: str) -> list[str]:
        return sorted({name for test in self._tests() if (name := getattr(test, field))})
