"""The collections of the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Generic, TypeVar

from scoregate.entities.base import Entity, StoredEntity
from scoregate.entities.endpoint import Endpoint
from scoregate.entities.filters import ModelFields, parse_filter
from scoregate.entities.labels import Behavior, Category, Topic
from scoregate.entities.test import Test
from scoregate.entities.test_run import TestResult, TestRun, read_all_results
from scoregate.entities.test_set import TestSet
from scoregate.entities.test_storage import find_test, read_all_tests
from scoregate.errors import EntityError
from scoregate.metrics import read_metric
from scoregate.metrics.documents import load_metric
from scoregate.store import METRICS, Store, StoredMetric, current_store
from scoregate.store.lookup import ambiguous_name_message, find_document, list_documents

E = TypeVar("E", bound=Entity)
K = TypeVar("K", bound=StoredEntity)


class Collection(Generic[E]):
    """All entities of a kind. Every method raises StoreError if an entity cannot be read."""

    entity: ClassVar[type[Entity]]

    @classmethod
    def all(cls, filter: str | None = None) -> list[E]:  # noqa: A002
        """All entities, or those that match an OData filter such as `name eq 'Safety'`.

        Raises:
            EntityError: the filter is not supported.
        """
        passes = None if filter is None else parse_filter(filter)
        return [each for each in cls._every(current_store()) if passes is None or passes(ModelFields(each))]

    @classmethod
    def first(cls) -> E | None:
        """The first entity; None if there is none."""
        return next(iter(cls._every(current_store())), None)

    @classmethod
    def pull(cls, id: str | None = None, name: str | None = None) -> E:  # noqa: A002
        """The complete entity with this id, else with this name, without regard to case.

        Raises:
            EntityError: both are missing, there is no such entity, or several have this name.
        """
        if id is not None:
            return cls.entity(id=str(id)).pull()  # type: ignore[return-value]
        if name is None:
            raise EntityError("Either id or name must be provided")
        names = ((each, getattr(each, "name", None)) for each in cls._every(current_store()))
        matches = [each for each, own in names if isinstance(own, str) and own.casefold() == name.casefold()]
        if not matches:
            raise EntityError(f"No entity found with name {name!r:.200}")
        if len(matches) > 1:
            raise EntityError(ambiguous_name_message(name, (each.id for each in matches)))
        return matches[0].pull() if matches[0].id else matches[0]

    @classmethod
    def exists(cls, id: str) -> bool:  # noqa: A002
        """Whether there is an entity with this id."""
        return any(each.id == str(id) for each in cls._every(current_store()))

    @classmethod
    def _every(cls, store: Store) -> Iterator[E]:
        raise NotImplementedError


class DocumentCollection(Collection[K]):
    """A collection of documents."""

    entity: ClassVar[type[StoredEntity]]

    @classmethod
    def exists(cls, id: str) -> bool:  # noqa: A002
        """Whether there is an entity with this id."""
        return find_document(current_store(), cls.entity.kind, str(id)) is not None

    @classmethod
    def _every(cls, store: Store) -> Iterator[K]:
        return map(cls.entity.read, list_documents(store, cls.entity.kind))  # type: ignore[arg-type]


L = TypeVar("L", bound=StoredEntity)


class TestSets(DocumentCollection[TestSet]):
    """All test sets. `all` and `first` do not read their tests, `pull` does."""

    __test__ = False
    entity = TestSet


class Tests(Collection[Test]):
    """All tests, in and outside of test sets. They have no names."""

    __test__ = False
    entity = Test

    @classmethod
    def exists(cls, id: str) -> bool:  # noqa: A002
        """Whether there is an entity with this id."""
        return find_test(current_store(), str(id)) is not None

    @classmethod
    def _every(cls, store: Store) -> Iterator[Test]:
        return map(Test.read, read_all_tests(store))


class Endpoints(DocumentCollection[Endpoint]):
    """All endpoints."""

    entity = Endpoint


class _Labels(DocumentCollection[L]):
    """Labels with a document, and labels that only tests use, which have no id."""

    field: ClassVar[str]

    @classmethod
    def _every(cls, store: Store) -> Iterator[L]:
        known: set[str] = set()
        for label in super()._every(store):
            known.add((label.name or "").casefold())
            yield label
        for name in sorted({name for test in read_all_tests(store) if (name := getattr(test, cls.field))}):
            if name.casefold() not in known:
                known.add(name.casefold())
                yield cls.entity(name=name)  # type: ignore[misc]


class Behaviors(_Labels[Behavior]):
    """All behaviors: those with a document, and those that tests use."""

    entity, field = Behavior, "behavior"


Requirements = Behaviors


class Categories(_Labels[Category]):
    """All categories: those with a document, and those that tests use."""

    entity, field = Category, "category"


class Topics(_Labels[Topic]):
    """All topics: those with a document, and those that tests use."""

    entity, field = Topic, "topic"


class TestRuns(DocumentCollection[TestRun]):
    """All runs of test sets."""

    __test__ = False
    entity = TestRun


class TestResults(Collection[TestResult]):
    """All test results of all runs."""

    __test__ = False
    entity = TestResult

    @classmethod
    def _every(cls, store: Store) -> Iterator[TestResult]:
        return read_all_results(store)


class Metrics:
    """All metrics of the store: judges, and metrics in Python code.

    Every method raises StoreError if a document cannot be read, and MetricError if it defines no valid metric.
    """

    @classmethod
    def all(cls, filter: str | None = None) -> list[Any]:  # noqa: A002
        """All metrics, or those that match a filter such as `kind eq 'numeric'`. Python code is imported.

        Raises:
            EntityError: the filter is not supported.
        """
        passes = None if filter is None else parse_filter(filter)
        return [
            _load_metric(each) for each in _stored_metrics() if passes is None or passes(each.model_dump(mode="json"))
        ]

    @classmethod
    def first(cls) -> Any | None:
        """The first metric by id; None if there is none."""
        return next(map(_load_metric, _stored_metrics()), None)

    @classmethod
    def pull(cls, id: str | None = None, name: str | None = None) -> Any:  # noqa: A002
        """The metric with this id, else with this name, without regard to case.

        Raises:
            MetricError: both are missing, there is no such metric, or several have this name.
        """
        return _load_metric(load_metric(id, name, current_store()))

    @classmethod
    def exists(cls, id: str) -> bool:  # noqa: A002
        """Whether there is an entity with this id."""
        return find_document(current_store(), METRICS, str(id)) is not None


def _stored_metrics() -> Iterator[StoredMetric]:
    return list_documents(current_store(), METRICS)


def _load_metric(stored: StoredMetric) -> Any:
    return read_metric(stored, where=current_store().location(METRICS, (stored.id,)))
