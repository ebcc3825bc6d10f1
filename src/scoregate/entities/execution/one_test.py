"""Run one test against an endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoregate.core.case import CaseResult
from scoregate.engine.environment import selection
from scoregate.entities.endpoint import Endpoint
from scoregate.entities.execution.asked import Asked
from scoregate.entities.execution.executing import course_on
from scoregate.entities.execution.outcomes import error_of, measured, status_of
from scoregate.entities.execution.terms import Terms
from scoregate.errors import EntityError
from scoregate.store import current_store


def executed(test: Asked, endpoint: Endpoint, terms: Terms) -> dict[str, Any]:
    """As `Test.execute`."""
    if not endpoint.id:
        raise EntityError("Endpoint ID must be set before executing")
    if not test.id:
        raise EntityError("Test ID must be set before executing")
    plan = test.test_configuration
    told = {
        "test_id": test.id,
        "prompt_id": test.prompt.id if test.prompt else None,
        "test_configuration": None if plan is None else plan.to_dict(),
    }
    if not selection().includes(test.id):
        return {**told, **_NOT_RUN}
    course = course_on(endpoint.definition, test.id, [test], terms, store=current_store())
    found = [case for _, case in course.run(None)]
    return {**told, **(_result(found[-1], course.metrics) if found else _NOT_RUN)}


_NOT_RUN = {"execution_time": None, "test_output": None, "test_metrics": None, "status": None, "error": None}


def _result(case: CaseResult, metrics: Mapping[str, Any]) -> dict[str, Any]:
    error = error_of(case)
    return {
        "execution_time": case.duration_ms,
        "test_output": case.output,
        "test_metrics": measured(case, metrics),
        "status": status_of(case),
        "error": None if error is None else f"{error.type}: {error.message}",
    }
