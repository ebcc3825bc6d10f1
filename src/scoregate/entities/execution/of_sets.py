"""Test sets that can be run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from scoregate.entities.endpoint import Endpoint
from scoregate.entities.execution.terms import Terms
from scoregate.entities.named_tests import NamedTests
from scoregate.enums import ExecutionMode

if TYPE_CHECKING:
    from scoregate.entities.execution.preflight import PreflightResult
    from scoregate.entities.test_run import TestRun
    from scoregate.models import Model


class RunnableTests(NamedTests):
    """A test set that can be run against an endpoint: here and now, as a suite by the set's name."""

    __test__ = False

    def execute(
        self,
        endpoint: Endpoint,
        *,
        mode: ExecutionMode | str | None = None,
        metrics: Iterable[Any] | None = None,
        execution_model: str | Model | None = None,
        evaluation_model: str | Model | None = None,
        run_name: str | None = None,
        max_concurrency: int | None = None,
        execution_model_id: str | None = None,
        evaluation_model_id: str | None = None,
    ) -> dict[str, Any]:
        """Ask the endpoint every test, judge the answers, and wait for the end.

        Each test is measured by `metrics`, else by those of the set, else by those of its behavior in the store, else
        by whether its answer shows that behavior. What goes wrong with a test is its Error.

        Args:
            mode: "Parallel" or "Sequential". max_concurrency: tests at a time; those of the endpoint if not given.
            metrics: names of metrics in the store, metrics, or evaluators of `scoregate.testing`.
            execution_model: the model that plays the user of conversations. evaluation_model: that of judges which name
                none. Either is "provider/name", a name of OpenAI's or a `Model`; the project's if not given.
            run_name: how the run is called. execution_model_id, evaluation_model_id: other words for the models' names.

        Returns:
            `status` (completed, partial, failed; skipped where a filter leaves the set out), `message`,
            `test_set_id`, `test_set_name`, `endpoint_id`, `endpoint_name`, `test_run_id`, `test_count`, `pass_rate` in
            [0, 1], and `test_configuration_id` and `task_id`, which are None.

        Raises:
            EntityError: the set or the endpoint has no id, or cannot be used as it is. EndpointError: a variable that
                the endpoint needs is not set. MetricError: a metric is none. ModelError: a model has no such name.
            StoreError: the store cannot be read or written.
        """
        from scoregate.entities.execution.runs_of_sets import executed

        user, judge = execution_model or execution_model_id, evaluation_model or evaluation_model_id
        return executed(self, endpoint, Terms(mode, metrics, user, judge, max_concurrency), title=run_name)

    def rescore(
        self,
        endpoint: Endpoint,
        run: TestRun | str | None = None,
        *,
        mode: ExecutionMode | str | None = None,
        metrics: Iterable[Any] | None = None,
        evaluation_model: str | Model | None = None,
        evaluation_model_id: str | None = None,
    ) -> dict[str, Any]:
        """Judge the answers of a run once more, without asking the endpoint; else as `execute`.

        Args:
            run: the run, its id or its name; the last one with answers if not given.

        Raises:
            EntityError: there is no such run. Else as `execute`.
        """
        from scoregate.entities.execution.runs_of_sets import rescored

        terms = Terms(mode, metrics, evaluation_model=evaluation_model or evaluation_model_id)
        return rescored(self, endpoint, run, terms=terms)

    def last_run(self, endpoint: Endpoint) -> dict[str, Any] | None:
        """The last run against an endpoint that has ended: `id`, `nano_id`, `name`, `status`, `created_at`,
        `test_count`, `pass_rate`; None where there is none.

        Raises:
            EntityError: the set or the endpoint has no id. StoreError: a run cannot be read.
        """
        from scoregate.entities.execution.runs_of_sets import last

        return last(self, endpoint)

    def preflight(
        self,
        endpoint: Endpoint,
        *,
        metrics: Iterable[Any] | None = None,
        execution_model: str | Model | None = None,
        evaluation_model: str | Model | None = None,
        execution_model_id: str | None = None,
        evaluation_model_id: str | None = None,
    ) -> PreflightResult:
        """Whether the set can be run: its tests, its metrics, the models, and the endpoint, which is sent a message.

        Nothing that is found is raised. Arguments are as those of `execute`.
        """
        from scoregate.entities.execution.runs_of_sets import preflight

        user, judge = execution_model or execution_model_id, evaluation_model or evaluation_model_id
        return preflight(self, endpoint, Terms(None, metrics, user, judge))
