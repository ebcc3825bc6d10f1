"""The collections of the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, TypeVar

from scoregate.entities.collection import Collection, Documents
from scoregate.entities.endpoint import Endpoint
from scoregate.entities.kept import KeptEntity
from scoregate.entities.labels import Behavior, Category, Topic
from scoregate.entities.placing import every_test, find_test
from scoregate.entities.test import Test
from scoregate.entities.test_run import TestResult, TestRun, every_result
from scoregate.entities.test_set import TestSet
from scoregate.store import Store, current_store

L = TypeVar("L", bound=KeptEntity)


class TestSets(Documents[TestSet]):
    """The test sets. `all` and `first` do not read their tests, `pull` does."""

    __test__ = False
    entity = TestSet


class Tests(Collection[Test]):
    """All tests: those that were pushed by themselves, and those of the sets. They have no names."""

    __test__ = False
    entity = Test

    @classmethod
    def exists(cls, id: str) -> bool:  # noqa: A002
        """Whether there is one of this id."""
        return find_test(current_store(), str(id)) is not None

    @classmethod
    def _every(cls, store: Store) -> Iterator[Test]:
        return map(Test.read, every_test(store))


class Endpoints(Documents[Endpoint]):
    """The endpoints."""

    entity = Endpoint


class _Labels(Documents[L]):
    """Those that have a document, and those that only tests name, which have no id."""

    field: ClassVar[str]

    @classmethod
    def _every(cls, store: Store) -> Iterator[L]:
        known: set[str] = set()
        for label in super()._every(store):
            known.add((label.name or "").casefold())
            yield label
        for name in sorted({name for test in every_test(store) if (name := getattr(test, cls.field))}):
            if name.casefold() not in known:
                known.add(name.casefold())
                yield cls.entity(name=name)  # type: ignore[misc]


class Behaviors(_Labels[Behavior]):
    """The behaviors that have a document, and those that tests name."""

    entity, field = Behavior, "behavior"


class Categories(_Labels[Category]):
    """The categories that have a document, and those that tests name."""

    entity, field = Category, "category"


class Topics(_Labels[Topic]):
    """The topics that have a document, and those that tests name."""

    entity, field = Topic, "topic"


class TestRuns(Documents[TestRun]):
    """The runs of test sets."""

    __test__ = False
    entity = TestRun


class TestResults(Collection[TestResult]):
    """The results of all runs."""

    __test__ = False
    entity = TestResult

    @classmethod
    def _every(cls, store: Store) -> Iterator[TestResult]:
        return every_result(store)
