"""Runs of test sets against endpoints, and what users are told of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from scoregate.entities.endpoint import Endpoint
from scoregate.entities.execution import keeping, past_runs
from scoregate.entities.execution.executing import course_by, course_on
from scoregate.entities.execution.preflight import PreflightResult, checked
from scoregate.entities.execution.terms import Terms
from scoregate.entities.named_tests import NamedTests
from scoregate.errors import EntityError
from scoregate.store import current_store
from scoregate.store.test_runs import StoredTestRun

_LAST = ("id", "name", "status", "created_at", "test_count", "pass_rate")


def executed(test_set: NamedTests, endpoint: Endpoint, terms: Terms, *, title: str | None) -> dict[str, Any]:
    """As `TestSet.execute`."""
    run, store, name = _run(test_set, endpoint), current_store(), _name(test_set)
    terms, tests = _measured(terms, test_set), test_set.tests_here()
    course = partial(course_on, endpoint.definition, name, tests, terms, store=store)
    return _told(test_set, endpoint, keeping.executed(run, name, course, store=store, title=title))


def rescored(test_set: NamedTests, endpoint: Endpoint, given: Any, *, terms: Terms) -> dict[str, Any]:
    """As `TestSet.rescore`."""
    store, tests = current_store(), test_set.tests_here()
    past = past_runs.run_to_rescore(store, *_ids(test_set, endpoint), given)
    ask = past_runs.Replay(store, past, tests).ask
    name, terms = f"{_name(test_set)} (rescored)", _measured(terms, test_set)
    course = partial(course_by, lambda _: ask, name, tests, terms=terms, most=10, store=store)
    run = _run(test_set, endpoint, {"rescored": past.id})
    return _told(test_set, endpoint, keeping.executed(run, name, course, store=store))


def last(test_set: NamedTests, endpoint: Endpoint) -> dict[str, Any] | None:
    """As `TestSet.last_run`."""
    found = past_runs.last_run(current_store(), *_ids(test_set, endpoint))
    return None if found is None else {"nano_id": found.id, **{name: getattr(found, name) for name in _LAST}}


def preflight(test_set: NamedTests, endpoint: Endpoint, terms: Terms) -> PreflightResult:
    """As `TestSet.preflight`."""
    return checked(test_set.tests_here(), endpoint, _measured(terms, test_set), store=current_store())


def _measured(terms: Terms, test_set: NamedTests) -> Terms:
    """By the metrics of the run, else by those of the set."""
    return replace(terms, metrics=list(terms.metrics or ()) or list(test_set.metrics))


def _name(test_set: NamedTests) -> str:
    return test_set.name or str(test_set.id)


def _ids(test_set: NamedTests, endpoint: Endpoint) -> tuple[str, str]:
    if not test_set.id:
        raise EntityError("Test set ID must be set before executing")
    if not endpoint.id:
        raise EntityError("Endpoint ID must be set before executing")
    return test_set.id, endpoint.id


def _run(test_set: NamedTests, endpoint: Endpoint, more: Mapping[str, Any] | None = None) -> StoredTestRun:
    own, on = _ids(test_set, endpoint)
    return StoredTestRun(test_set_id=own, endpoint_id=on, metadata=dict(more or {}))


def _told(test_set: NamedTests, endpoint: Endpoint, run: StoredTestRun | None) -> dict[str, Any]:
    return {
        **_summary(run),
        "test_set_id": test_set.id,
        "test_set_name": test_set.name,
        "endpoint_id": endpoint.id,
        "endpoint_name": endpoint.name,
        "test_configuration_id": None,
        "task_id": None,
    }


def _summary(run: StoredTestRun | None) -> dict[str, Any]:
    if run is None:
        said = "a filter leaves this test set out"
        return {"status": "skipped", "message": said, "test_run_id": None, "test_count": 0, "pass_rate": None}
    those = " of those judged" if run.status == "Partial" else ""
    rate = "nothing judged" if run.pass_rate is None else f"{run.pass_rate:.0%}{those} passed"
    return {
        "status": run.status.lower(),
        "message": f"{run.test_count} tests run, {rate}",
        "test_run_id": run.id,
        "test_count": run.test_count,
        "pass_rate": run.pass_rate,
    }
