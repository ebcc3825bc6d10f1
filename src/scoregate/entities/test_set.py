"""A test set: tests of one type that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import UUID

from scoregate.entities import membership
from scoregate.entities.execution.of_sets import RunnableTests
from scoregate.entities.naming import id_of
from scoregate.entities.properties import SHOWN, About, properties_of
from scoregate.entities.test import Test, line_of_test
from scoregate.entities.test_types import check_tests, set_type
from scoregate.errors import EntityError
from scoregate.store import Store, Writer, current_store
from scoregate.store.test_sets import put_tests

if TYPE_CHECKING:
    from scoregate.models import Model


class TestSet(RunnableTests):
    """Tests with a name. `tests` is None where they were not read, as in lists of sets: `pull` reads them.

    `metrics` are the names of those that all tests are measured with, in the place of those of their behaviors.
    """

    __test__ = False

    def push(self) -> dict[str, Any]:
        """Keep it with its tests; a second push puts all in the place of what is kept.

        Nothing is changed where something is wrong. Without an id the set gets one from its name, and each test one of
        its own; without a type it gets that of its tests. Where `tests` is None, those that are kept stay.

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

    def set_properties(self, model: Model) -> None:
        """Have a model name and describe the set by what its tests are about.

        Where the model's answer is of no use, the set is named after its topics, with a warning.

        Raises:
            EntityError: it has no tests. ModelError: the model cannot be asked.
        """
        about = About(self.categories, self.topics, self.behaviors)
        found = properties_of(list(islice(self._tests(), SHOWN)), about, model)
        self.name, self.description, self.short_description = found.name, found.description, found.short_description

    def _id_for(self, doing: str) -> str:
        if not self.id:
            raise EntityError(f"Test set ID must be set before {doing}")
        return self.id

    def _write(self, writer: Writer, document: Any) -> None:
        """The tests first: until its document is there, a new set is none."""
        for test in self.tests or ():
            test.settle_id()
            test.test_type = test.turns
        if self.tests is not None or not self.id:
            put_tests(writer, document.id, map(line_of_test, self.tests or ()))
        super()._write(writer, document)

    def _take(self, head: Any, store: Store) -> None:
        super()._take(head, store)
        self.tests = list(self._kept_tests(store))
