"""A test set: tests of one type that belong together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self
from uuid import UUID, uuid4

from pydantic import Field, computed_field

from scoregate.entities import membership
from scoregate.entities.files import read_tests
from scoregate.entities.measured import Measured
from scoregate.entities.naming import id_of
from scoregate.entities.place import current_store
from scoregate.entities.test import Test, line_of_test
from scoregate.entities.test_types import check_tests, set_type
from scoregate.entities.writing import write_csv, write_json, write_json_lines
from scoregate.enums import TestType
from scoregate.errors import EntityError
from scoregate.store import TEST_SETS, Store, Writer
from scoregate.store.test_sets import count_tests, put_tests, tests_of


class TestSet(Measured):
    """Tests with a name. `tests` is None where they were not read, as in lists of sets: `pull` reads them.

    `metrics` are the names of those that all tests are measured with, in the place of those of their behaviors.
    """

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

    def push(self) -> dict[str, Any]:
        """Keep it with its tests; a second push puts all in the place of what is kept, as one step.

        Without an id the set gets one from its name, and tests without an id one each. Where `tests` is None, those
        that are kept stay. Without a type it gets that of its tests.

        Raises:
            EntityError: something is missing, or the tests are of both types. StoreError: it could not be written.
        """
        self._check_required()
        if self.tests is not None or not self.id:
            check_tests(self.tests or ())
            self.test_set_type = set_type(self.tests or (), self.test_set_type)
        return {**super().push(), "test_count": self.test_count}

    def fetch_tests(self, skip: int = 0, limit: int | None = None) -> list[Test]:
        """So many of the tests in the store, after so many; all by default. `tests` stays as it is.

        Raises:
            EntityError: it has no id. StoreError: they cannot be read.
        """
        end = None if limit is None else skip + limit
        return list(islice(self._kept_tests(current_store()), skip, end))

    def add_tests(self, tests: Sequence[Test | dict[str, Any] | UUID | str]) -> dict[str, Any]:
        """Add tests to the set in the store, and here: tests, their fields, or ids of tests in the store.

        Returns:
            `success`, `total_tests` in the store now, and a `message`.

        Raises:
            EntityError: it has no id, or a test cannot be added; then none is. StoreError: it could not be written.
        """
        store, own = current_store(), self._id_for("adding tests")
        found = [membership.meant(store, each) for each in tests]
        new, total = membership.add(store, own, found)
        if self.tests is not None:
            by_id = {test.id: test for test in found}
            known = {test.id for test in self.tests}
            self.tests = [by_id.get(test.id, test) for test in self.tests] + [t for t in found if t.id not in known]
        return {"success": True, "total_tests": total, "message": f"{new} added, {len(found) - new} replaced"}

    def remove_tests(self, tests: Sequence[Test | dict[str, Any] | UUID | str]) -> dict[str, Any]:
        """Take tests out of the set in the store, and here.

        Returns:
            As `add_tests`, and how many left as `removed_associations`.

        Raises:
            EntityError: it has no id. StoreError: it could not be written.
        """
        gone, total = membership.remove(current_store(), self._id_for("removing tests"), tests)
        if self.tests is not None:
            ids = {id_of(each) for each in tests}
            self.tests = [test for test in self.tests if test.id not in ids]
        return {
            "success": True,
            "total_tests": total,
            "removed_associations": gone,
            "message": f"{gone} removed, {len(tests) - gone} were not there",
        }

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
        """The tests of a table with the columns `prompt_content`, `category`, `topic` and `behavior`; see the docs.

        Args:
            allow_empty: whether a table without tests is one.

        Raises:
            InvalidTests: all that is wrong, with its line and column. OSError: the file cannot be read.
        """
        return cls._of(read_tests(filename, kind=".csv", allow_empty=allow_empty), name, description, short_description)

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
        """The tests of a JSON list of objects; else as `from_csv`."""
        found = read_tests(filename, kind=".json", allow_empty=allow_empty)
        return cls._of(found, name, description, short_description)

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
        """The tests of a file with an object a line; else as `from_csv`."""
        found = read_tests(filename, kind=".jsonl", allow_empty=allow_empty)
        return cls._of(found, name, description, short_description)

    def to_csv(self, filename: str | Path) -> None:
        """Write its tests as a table that `from_csv` takes.

        Raises:
            EntityError: there are none, or metadata has no form in JSON. OSError: it cannot be written.
        """
        write_csv(self._to_export(), Path(filename))

    def to_json(self, filename: str | Path, indent: int | None = 2) -> None:
        """Write its tests as a JSON list; else as `to_csv`."""
        write_json(self._to_export(), Path(filename), indent)

    def to_jsonl(self, filename: str | Path) -> None:
        """Write its tests, an object a line; else as `to_csv`."""
        write_json_lines(self._to_export(), Path(filename))

    @classmethod
    def _of(cls, found: Iterable[Test], name: str, description: str, short: str) -> Self:
        tests = list(found)
        kind = set_type(tests)
        return cls(name=name, description=description, short_description=short, tests=tests, test_set_type=kind)

    def _to_export(self) -> list[Test]:
        tests = self.fetch_tests() if self.tests is None and self.id else self.tests
        if not tests:
            raise EntityError("Test set has no tests to export")
        return tests

    def _id_for(self, doing: str) -> str:
        if not self.id:
            raise EntityError(f"Test set ID must be set before {doing}")
        return self.id

    def _write(self, writer: Writer, document: Any) -> None:
        """The tests first: until its document is there, a new set is none."""
        if self.tests is not None:
            for test in self.tests:
                test.id = test.id or str(uuid4())
                test.test_type = test.turns
            put_tests(writer, document.id, map(line_of_test, self.tests))
        super()._write(writer, document)

    def _take(self, head: Any, store: Store) -> None:
        super()._take(head, store)
        self.tests = list(self._kept_tests(store))

    def _kept_tests(self, store: Store) -> Iterator[Test]:
        return map(Test.read, tests_of(store, self._own_id()))

    def _names(self, field: str) -> list[str]:
        tests = self._kept_tests(current_store()) if self.tests is None and self.id else self.tests or ()
        return sorted({name for test in tests if (name := getattr(test, field))})
