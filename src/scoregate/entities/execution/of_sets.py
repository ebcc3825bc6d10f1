"""Test sets that can be run."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from scoregate.entities.endpoint import Endpoint
from scoregate.entities.execution.executing import course_by, course_on
from scoregate.entities.execution.keeping import executed
from scoregate.entities.execution.past_runs import Replay, last_run, run_to_rescore
from scoregate.entities.execution.preflight import PreflightResult, checked
from scoregate.entities.execution.terms import Terms
from scoregate.entities.named_tests import NamedTests
from scoregate.entities.place import current_store
from scoregate.enums import ExecutionMode
from scoregate.errors import EntityError
from scoregate.store.test_runs import StoredTestRun

if TYPE_CHECKING:
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
        run, store = self._run(endpoint), current_store()
        evaluation = evaluation_model or evaluation_model_id
        terms = Terms(mode, self._metrics(metrics), execution_model or execution_model_id, evaluation, max_concurrency)
        course = partial(course_on, endpoint.definition, self._title, list(self._tests()), terms, store=store)
        return self._told(endpoint, executed(run, self._title, course, store=store, title=run_name))

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
        store = current_store()
        past = run_to_rescore(store, *self._ids(endpoint), run)
        terms = Terms(mode, self._metrics(metrics), evaluation_model=evaluation_model or evaluation_model_id)
        tests, name = list(self._tests()), f"{self._title} (rescored)"
        ask = Replay(store, past, tests).ask
        course = partial(course_by, lambda _: ask, name, tests, terms=terms, most=10, store=store)
        return self._told(endpoint, executed(self._run(endpoint, rescored=past.id), name, course, store=store))

    def last_run(self, endpoint: Endpoint) -> dict[str, Any] | None:
        """The last run against an endpoint that has ended: `id`, `nano_id`, `name`, `status`, `created_at`,
        `test_count`, `pass_rate`; None where there is none.

        Raises:
            EntityError: the set or the endpoint has no id. StoreError: a run cannot be read.
        """
        found = last_run(current_store(), *self._ids(endpoint))
        if found is None:
            return None
        names = ("id", "name", "status", "created_at", "test_count", "pass_rate")
        return {"nano_id": found.id, **{name: getattr(found, name) for name in names}}

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
        evaluation = evaluation_model or evaluation_model_id
        terms = Terms(None, self._metrics(metrics), execution_model or execution_model_id, evaluation)
        return checked(list(self._tests()), endpoint, terms, store=current_store())

    @property
    def _title(self) -> str:
        return self.name or str(self.id)

    def _metrics(self, given: Iterable[Any] | None) -> list[Any]:
        return list(given or ()) or list(self.metrics)

    def _ids(self, endpoint: Endpoint) -> tuple[str, str]:
        if not self.id:
            raise EntityError("Test set ID must be set before executing")
        if not endpoint.id:
            raise EntityError("Endpoint ID must be set before executing")
        return self.id, endpoint.id

    def _run(self, endpoint: Endpoint, **more: Any) -> StoredTestRun:
        own, on = self._ids(endpoint)
        return StoredTestRun(test_set_id=own, endpoint_id=on, metadata=more)

    def _told(self, endpoint: Endpoint, run: StoredTestRun | None) -> dict[str, Any]:
        return {
            **_summary(run),
            "test_set_id": self.id,
            "test_set_name": self.name,
            "endpoint_id": endpoint.id,
            "endpoint_name": endpoint.name,
            "test_configuration_id": None,
            "task_id": None,
        }


def _summary(run: StoredTestRun | None) -> dict[str, Any]:
    if run is None:
        said = "a filter leaves this test set out"
        return {"status": "skipped", "message": said, "test_run_id": None, "test_count": 0, "pass_rate": None}
    rate = "nothing judged" if run.pass_rate is None else f"{run.pass_rate:.0%} passed"
    return {
        "status": run.status.lower(),
        "message": f"{run.test_count} tests run, {rate}",
        "test_run_id": run.id,
        "test_count": run.test_count,
        "pass_rate": run.pass_rate,
    }
