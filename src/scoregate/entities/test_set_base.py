"""The fields of a test set, and its import from and export to files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import Field, computed_field

from scoregate.entities.labels import HasMetrics
from scoregate.entities.test import Test
from scoregate.entities.test_files import read_tests, write_csv, write_json, write_json_lines
from scoregate.enums import TestType
from scoregate.errors import EntityError
from scoregate.store import TEST_SETS, Store, current_store
from scoregate.store.test_sets import count_tests, load_stored_tests


def common_type(tests: Iterable[Test], declared: TestType | None = None) -> TestType:
    """The type of all tests. Without tests it is the declared type, or Single-Turn.

    Raises:
        EntityError: the tests have different types, or another type than the declared one.
    """
    types = {test.turns for test in tests} | ({declared} if declared else set())
    if len(types) > 1:
        raise EntityError(
            f"Cannot create a TestSet with mixed test types: {sorted(kind.value for kind in types)}."
            " Split the tests into separate Single-Turn and Multi-Turn test sets."
        )
    return next(iter(types), TestType.SINGLE_TURN)


def check_tests(tests: Sequence[Test]) -> None:
    """Check that tests can be stored.

    Raises:
        EntityError: a test has no category or no behavior, or two have the same id.
    """
    indexes: dict[str, int] = {}
    for index, test in enumerate(tests):
        if missing := [name for name in test.push_required if getattr(test, name) is None]:
            raise EntityError(f"Test at index {index} is missing required fields: {', '.join(missing)}")
        if test.id and (first := indexes.setdefault(test.id, index)) != index:
            raise EntityError(f"Tests at indexes {first} and {index} have one id, {test.id!r:.60}")


class TestSetBase(HasMetrics):
    """The fields and files of a test set. `tests` is None if they were not read."""

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
        """The number of tests; in the store, if they were not read."""
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
        """Read a table with the columns `prompt_content`, `category`, `topic` and `behavior`.

        Optional columns are `expected_response`, `test_type`, `language_code`, `goal`, `instructions`,
        `restrictions`, `scenario`, `min_turns`, `max_turns`, `metadata` (a JSON object), `id` and `prompt_id`.
        Others are ignored with a warning. The delimiter is a comma, semicolon, tab or vertical bar.

        Args:
            filename: the path of the table.
            name: the name of the set.
            description: the description of the set.
            short_description: a short description.
            allow_empty: whether a table without tests is valid.

        Raises:
            InvalidTests: the problems of the table, with line and column.
            OSError: the file cannot be read.
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
        """Read a JSON list of objects with the fields of tests or the columns of tables; otherwise as `from_csv`."""
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
        """Read a JSON lines file; otherwise as `from_json`."""
        return cls._read_from(filename, (name, description, short_description), kind=".jsonl", allow_empty=allow_empty)

    def to_csv(self, filename: str | Path) -> None:
        """Write the tests as a table that `from_csv` can read.

        Raises:
            EntityError: there are no tests, or metadata has no form in JSON.
            OSError: the file cannot be written.
        """
        write_csv(self._to_export(), Path(filename))

    def to_json(self, filename: str | Path, indent: int | None = 2) -> None:
        """Write the tests as a JSON list; otherwise as `to_csv`."""
        write_json(self._to_export(), Path(filename), indent)

    def to_jsonl(self, filename: str | Path) -> None:
        """Write the tests as JSON lines; otherwise as `to_csv`."""
        write_json_lines(self._to_export(), Path(filename))

    @classmethod
    def _read_from(cls, filename: str | Path, texts: tuple[str, str, str], *, kind: str, allow_empty: bool) -> Self:
        tests = list(read_tests(filename, kind=kind, allow_empty=allow_empty))
        return cls(
            name=texts[0],
            description=texts[1],
            short_description=texts[2],
            tests=tests,
            test_set_type=common_type(tests),
        )

    def _to_export(self) -> list[Test]:
        tests = list(self._tests())
        if not tests:
            raise EntityError("Test set has no tests to export")
        return tests

    def load_tests(self) -> list[Test]:
        """The tests; if they were not read, those in the store. The field `tests` does not change.

        Raises:
            StoreError: they cannot be read.
        """
        return list(self._tests())

    def _tests(self) -> Iterable[Test]:
        """The tests; if they were not read, those in the store."""
        if self.tests is None and self.id:
            return self._kept_tests(current_store())
        return self.tests or ()

    def _kept_tests(self, store: Store) -> Iterator[Test]:
        return map(Test.read, load_stored_tests(store, self._own_id()))

    def _names(self, field: str) -> list[str]:
        return sorted({name for test in self._tests() if (name := getattr(test, field))})
