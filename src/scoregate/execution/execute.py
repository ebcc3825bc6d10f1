"""Execution of test sets and single tests against an endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from scoregate.engine.driver import run_to_end
from scoregate.engine.environment import Selection
from scoregate.errors import EntityError
from scoregate.execution.cases import TestLike
from scoregate.execution.conversation import TargetTask
from scoregate.execution.metrics import MetricSelection, resolve_metrics
from scoregate.execution.options import ExecutionOptions
from scoregate.execution.results import (
    RecordedAnswers,
    StoredRun,
    error_of,
    find_last_run,
    find_run_to_rescore,
    metric_results,
    status_of,
)
from scoregate.execution.suite import ExecutionFront, build_test_suite
from scoregate.kernel.types.suite import Suite
from scoregate.store import Store, StoredEndpoint, current_store
from scoregate.store.test_runs import StoredTestRun

_LAST_RUN_FIELDS = ("id", "name", "status", "created_at", "test_count", "pass_rate")
_RESCORE_CONCURRENCY = 10


class EndpointLike(Protocol):
    """An endpoint, such as `entities.Endpoint`."""

    @property
    def id(self) -> str | None:
        """The id of the endpoint."""

    @property
    def name(self) -> str | None:
        """The name of the endpoint."""

    @property
    def definition(self) -> StoredEndpoint:
        """The checked definition of the endpoint."""

    def test(self) -> Mapping[str, Any]:
        """Send the endpoint a short message."""


class TestSetLike(Protocol):
    """A test set, such as `entities.TestSet`."""

    @property
    def id(self) -> str | None:
        """The id of the test set."""

    @property
    def name(self) -> str | None:
        """The name of the test set, which is the id of its suite."""

    @property
    def metrics(self) -> Sequence[str]:
        """The names of the set's metrics."""

    def load_tests(self) -> Sequence[TestLike]:
        """The tests of the set."""


def execute_test_set(
    test_set: TestSetLike, endpoint: EndpointLike, options: ExecutionOptions, *, run_name: str | None = None
) -> dict[str, Any]:
    """Run every test of a set against an endpoint, store the results and summarize them."""
    run, store, name = _new_run(test_set, endpoint), current_store(), _suite_name(test_set)
    options, tests, definition = _with_set_metrics(options, test_set), test_set.load_tests(), endpoint.definition
    prepare = partial(prepare_suite, name, tests, definition, options, store=store, target=_target_name(endpoint))
    stored = StoredRun(prepare, run, store=store, name=run_name)
    run_to_end(name, stored)
    return _to_response(test_set, endpoint, stored.finished)


def prepare_suite(
    name: str,
    tests: Sequence[TestLike],
    definition: StoredEndpoint | None,
    options: ExecutionOptions,
    selection: Selection,
    *,
    store: Store,
    target: str | None = None,
    answers: RecordedAnswers | None = None,
) -> tuple[Suite, MetricSelection]:
    """The suite of tests against an endpoint, or of recorded answers, and its metrics.

    Raises:
        EndpointError: the definition of the endpoint is not valid here.
        MetricError: a metric does not exist or is invalid.
        ModelError: there is no model of this name.
    """
    conversations, concurrency = options.conversations(), _RESCORE_CONCURRENCY
    if definition is not None:
        from scoregate.endpoints import open_target

        opened, concurrency = open_target(definition), definition.max_concurrency
    metrics = resolve_metrics(tests, options.metrics, store=store, model=options.evaluation_model)
    task = TargetTask(opened, metrics, conversations).run if answers is None else answers.run
    limits = options.limits(concurrency)
    suite = build_test_suite(
        name, tests, task, metrics, conversations=conversations, limits=limits, selection=selection, target=target
    )
    return suite, metrics


def rescore_test_set(
    test_set: TestSetLike, endpoint: EndpointLike, run: str | None, options: ExecutionOptions
) -> dict[str, Any]:
    """Evaluate the answers of a stored run again, store the results and summarize them."""
    store, tests, name = current_store(), test_set.load_tests(), f"{_suite_name(test_set)} (rescored)"
    past = find_run_to_rescore(store, *_check_ids(test_set, endpoint), run)
    answers, options = RecordedAnswers(store, past, tests), _with_set_metrics(options, test_set)
    target = _target_name(endpoint)
    prepare = partial(prepare_suite, name, tests, None, options, store=store, target=target, answers=answers)
    stored = StoredRun(prepare, _new_run(test_set, endpoint, {"rescored": past.id}), store=store)
    run_to_end(name, stored)
    return _to_response(test_set, endpoint, stored.finished)


def load_last_run(test_set: TestSetLike, endpoint: EndpointLike) -> dict[str, Any] | None:
    """The last finished run of a test set against an endpoint; None if there is none."""
    run = find_last_run(current_store(), *_check_ids(test_set, endpoint))
    return None if run is None else {"nano_id": run.id, **{name: getattr(run, name) for name in _LAST_RUN_FIELDS}}


def execute_test(test: TestLike, endpoint: EndpointLike, options: ExecutionOptions) -> dict[str, Any]:
    """Run one test against an endpoint. The result is not stored."""
    if not endpoint.id:
        raise EntityError("Endpoint ID must be set before executing")
    if not test.id:
        raise EntityError("Test ID must be set before executing")
    result: dict[str, Any] = {
        "test_id": test.id,
        "prompt_id": test.prompt.id if test.prompt else None,
        "test_configuration": None if test.test_configuration is None else test.test_configuration.to_dict(),
        **dict.fromkeys(("execution_time", "test_output", "test_metrics", "status", "error")),
    }
    name, target = test.id, _target_name(endpoint)

    def prepare(selection: Selection) -> tuple[Suite, MetricSelection]:
        store, definition = current_store(), endpoint.definition
        return prepare_suite(name, [test], definition, options, selection, store=store, target=target)

    front = ExecutionFront(prepare)
    run_to_end(name, front)
    for _, case in front.outcomes:
        error = error_of(case)
        result |= {
            "execution_time": case.duration_ms,
            "test_output": case.output,
            "test_metrics": metric_results(case, front.metrics),
            "status": status_of(case),
            "error": None if error is None else f"{error.type}: {error.message}",
        }
    return result


def _with_set_metrics(options: ExecutionOptions, test_set: TestSetLike) -> ExecutionOptions:
    """The metrics of the run, else those of the set."""
    return replace(options, metrics=list(options.metrics or ()) or list(test_set.metrics))


def _suite_name(test_set: TestSetLike) -> str:
    return test_set.name or str(test_set.id)


def _target_name(endpoint: EndpointLike) -> str:
    return endpoint.name or str(endpoint.id)


def _check_ids(test_set: TestSetLike, endpoint: EndpointLike) -> tuple[str, str]:
    if not test_set.id:
        raise EntityError("Test set ID must be set before executing")
    if not endpoint.id:
        raise EntityError("Endpoint ID must be set before executing")
    return test_set.id, endpoint.id


def _new_run(test_set: TestSetLike, endpoint: EndpointLike, metadata: Mapping[str, Any] | None = None) -> StoredTestRun:
    test_set_id, endpoint_id = _check_ids(test_set, endpoint)
    return StoredTestRun(test_set_id=test_set_id, endpoint_id=endpoint_id, metadata=dict(metadata or {}))


def _to_response(test_set: TestSetLike, endpoint: EndpointLike, run: StoredTestRun | None) -> dict[str, Any]:
    if run is None:
        status, message = "skipped", "a filter excludes this test set"
    else:
        judged = " of those judged" if run.status == "Partial" else ""
        rate = "nothing judged" if run.pass_rate is None else f"{run.pass_rate:.0%}{judged} passed"
        status, message = run.status.lower(), f"{run.test_count} tests run, {rate}"
    return {
        "status": status,
        "message": message,
        "test_run_id": run and run.id,
        "test_count": run.test_count if run else 0,
        "pass_rate": run and run.pass_rate,
        "test_set_id": test_set.id,
        "test_set_name": test_set.name,
        "endpoint_id": endpoint.id,
        "endpoint_name": endpoint.name,
        "test_configuration_id": None,
        "task_id": None,
    }
