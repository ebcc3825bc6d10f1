"""Suites that are data, run as their files say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scoregate.engine.environment import message, selection
from scoregate.engine.origin import caller
from scoregate.entities.execution.executing import course_on
from scoregate.entities.execution.running import run_tests
from scoregate.entities.execution.terms import Terms
from scoregate.entities.files import read_tests
from scoregate.entities.test import Test
from scoregate.store import Store
from scoregate.store.heads import head_of
from scoregate.store.suite_files import (
    SuiteFile,
    TestSetTable,
    endpoint_of,
    file_of_tests,
    read_suite_file,
    set_called,
    suite_name,
)
from scoregate.store.test_sets import TEST_SETS
from scoregate.store.test_sets import tests_of as kept_tests_of


def run_suite_file(path: Path, store: Store, *, document: Mapping[str, Any] | None = None) -> None:
    """Put its tests to its endpoint, and have the answers judged; what comes of them goes where the host listens.

    Args:
        path: as messages are to show it. document: what stands for the file, where that is not as it is there.

    Raises:
        StoreError: something is wrong with the file, or what it names is not there. InvalidTests: or with the tests.
        EndpointError, MetricError, ModelError: or with the endpoint, a metric, a model. OSError: or with a file.
    """
    file = read_suite_file(path, shown=str(path)) if document is None else SuiteFile.model_validate(document)
    name = suite_name(file.testset.name, path)
    if not selection().includes(name):
        return
    course = course_on(
        endpoint_of(file, path, store), name, _tests(file, path, store), _terms(file, store), store=store
    )
    table, suite = file.testset, course.suite
    limits = suite.limits._replace(retries=table.retries, timeout_s=table.timeout_seconds)
    run_tests(replace(suite, limits=limits, origin=caller(), message=message()))


def _tests(file: SuiteFile, path: Path, store: Store) -> list[Test]:
    if (named := file.testset.set) is not None:
        return [Test.read(each) for each in kept_tests_of(store, set_called(named, store))]
    return list(read_tests(file_of_tests(file, path)))


def _terms(file: SuiteFile, store: Store) -> Terms:
    table = file.testset
    return Terms(
        metrics=list(_metrics(file, store)),
        execution_model=table.user_model or table.model,
        evaluation_model=table.model,
        max_concurrency=table.max_concurrency,
    )


def _metrics(file: SuiteFile, store: Store) -> Iterator[Any]:
    """Those of its tables, and those that it names besides; without either those of the set in the store."""
    own = {metric.name.casefold() for metric in file.metrics}
    yield from file.metrics
    named = file.testset.metrics or (() if file.metrics else _of_set(file.testset, store))
    yield from (name for name in named if name.casefold() not in own)


def _of_set(table: TestSetTable, store: Store) -> tuple[str, ...]:
    if table.set is None:
        return ()
    metrics: tuple[str, ...] = head_of(store, TEST_SETS, set_called(table.set, store)).metrics
    return metrics
