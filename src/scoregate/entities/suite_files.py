"""Execution of suites that are data: `*.testset.toml`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scoregate.engine.environment import read_selection
from scoregate.entities.test import Test
from scoregate.entities.test_files import read_tests
from scoregate.execution.execute import prepare_suite
from scoregate.execution.options import ExecutionOptions
from scoregate.execution.suite import run_tests
from scoregate.store import Store
from scoregate.store.lookup import head_of
from scoregate.store.suite_files import (
    SuiteFile,
    endpoint_of,
    file_of_tests,
    read_suite_file,
    set_called,
    suite_name,
)
from scoregate.store.test_sets import TEST_SETS, tests_of


def run_suite_file(path: Path, store: Store, *, document: Mapping[str, Any] | None = None) -> None:
    """Run the tests of a file against its endpoint. The results go to the event log.

    Args:
        path: the path in messages.
        store: the store of the project.
        document: the content, if it is not the content of the file.

    Raises:
        StoreError: the file is invalid, or something that it names does not exist.
        InvalidTests: the tests are invalid.
        EndpointError: the endpoint is invalid.
        MetricError: a metric is invalid.
        ModelError: there is no model of this name.
        OSError: a file cannot be read.
    """
    file = read_suite_file(path, shown=str(path)) if document is None else SuiteFile.model_validate(document)
    table, name = file.testset, suite_name(file.testset.name, path)
    if not read_selection().includes(name):
        return
    definition, tests = endpoint_of(file, path, store), _load_tests(file, path, store)
    options = ExecutionOptions(
        metrics=list(_list_metrics(file, store)),
        execution_model=table.user_model or table.model,
        evaluation_model=table.model,
        max_concurrency=table.max_concurrency,
    )
    suite, _ = prepare_suite(name, tests, definition, options, store=store)
    run_tests(replace(suite, limits=suite.limits._replace(retries=table.retries, timeout_s=table.timeout_seconds)))


def _load_tests(file: SuiteFile, path: Path, store: Store) -> list[Test]:
    if (test_set := file.testset.set) is not None:
        return [Test.read(each) for each in tests_of(store, set_called(test_set, store))]
    return list(read_tests(file_of_tests(file, path)))


def _list_metrics(file: SuiteFile, store: Store) -> Iterator[Any]:
    """The metrics that the file defines and names. If it has none, those of its set in the store."""
    names = file.testset.metrics
    if not names and not file.metrics and file.testset.set is not None:
        names = head_of(store, TEST_SETS, set_called(file.testset.set, store)).metrics
    yield from file.metrics
    own = {metric.name.casefold() for metric in file.metrics}
    yield from (name for name in names if name.casefold() not in own)
