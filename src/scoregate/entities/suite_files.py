"""Execution of suites that are data: `*.testset.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from scoregate.engine.driver import run_to_end
from scoregate.engine.environment import Selection
from scoregate.entities.test import Test
from scoregate.entities.test_files import read_tests
from scoregate.execution.execute import prepare_suite
from scoregate.execution.metrics import MetricSelection
from scoregate.execution.options import ExecutionOptions
from scoregate.execution.suite import ExecutionFront
from scoregate.kernel.types.suite import Suite
from scoregate.store import Store
from scoregate.store.lookup import find_document
from scoregate.store.suite_files import (
    SuiteFile,
    find_tests_file,
    load_endpoint,
    read_suite_file,
    resolve_test_set_id,
    suite_name,
)
from scoregate.store.test_sets import TEST_SETS, load_stored_tests


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
    name = suite_name(file.testset.name, path)
    run_to_end(name, ExecutionFront(partial(_prepare, name, file, path, store)))


def _prepare(
    name: str, file: SuiteFile, path: Path, store: Store, selection: Selection
) -> tuple[Suite, MetricSelection]:
    table = file.testset
    definition, names = load_endpoint(file, path, store), table.metrics
    if table.set is None:
        tests = list(read_tests(find_tests_file(file, path)))
    else:
        set_id = resolve_test_set_id(table.set, store)
        tests = [Test.read(each) for each in load_stored_tests(store, set_id)]
        if not names and not file.metrics:
            names = find_document(store, TEST_SETS, set_id).metrics
    own = {metric.name.casefold() for metric in file.metrics}
    options = ExecutionOptions(
        metrics=[*file.metrics, *(name for name in names if name.casefold() not in own)],
        execution_model=table.user_model or table.model,
        evaluation_model=table.model,
        max_concurrency=table.max_concurrency,
    )
    suite, metrics = prepare_suite(name, tests, definition, options, selection, store=store)
    limits = suite.limits._replace(retries=table.retries, timeout_s=table.timeout_seconds)
    return replace(suite, limits=limits), metrics
