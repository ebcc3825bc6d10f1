"""Checks before the execution of a test set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scoregate.enums import TestType
from scoregate.errors import EntityError, MetricError, ScoregateError
from scoregate.execution.cases import REQUIRED_CONTENT, TestLike, test_texts
from scoregate.execution.execute import EndpointLike, TestSetLike
from scoregate.execution.metrics import MetricSelection, resolve_metrics
from scoregate.execution.options import ExecutionOptions
from scoregate.metrics.judges import Judge
from scoregate.store import current_store


@dataclass(frozen=True, slots=True)
class PreflightCheck:
    """One check and its message."""

    name: str
    passed: bool
    message: str


@dataclass(frozen=True, slots=True)
class PreflightResult:
    """All checks."""

    checks: tuple[PreflightCheck, ...]

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return self.failed_count == 0

    @property
    def passed_count(self) -> int:
        """How many checks passed."""
        return len(self.checks) - self.failed_count

    @property
    def failed_count(self) -> int:
        """How many checks failed."""
        return sum(not check.passed for check in self.checks)

    @property
    def summary(self) -> str:
        """A line for each check."""
        return "\n".join(f"{'ok' if each.passed else 'FAILED'}  {each.name}: {each.message}" for each in self.checks)


def run_preflight(test_set: TestSetLike, endpoint: EndpointLike, options: ExecutionOptions) -> PreflightResult:
    """Check the tests of a set, its metrics, the models and the endpoint."""
    tests, store = test_set.load_tests(), current_store()
    wanted = list(options.metrics or ()) or list(test_set.metrics)

    def metrics() -> MetricSelection:
        return resolve_metrics(tests, wanted, store=store, model=options.evaluation_model)

    def endpoint_answers() -> str:
        endpoint.test()
        return f"{endpoint.name} answers"

    checks: tuple[tuple[str, Callable[[], str]], ...] = (
        ("tests", lambda: _check_tests(tests)),
        ("metrics", lambda: _check_metrics(tests, metrics())),
        ("models", lambda: _check_models(tests, metrics(), options)),
        ("endpoint", endpoint_answers),
    )
    results = []
    for name, check in checks:
        try:
            results.append(PreflightCheck(name, True, check()))
        except ScoregateError as error:
            results.append(PreflightCheck(name, False, f"{error.message} {error.advice}".strip()))
    return PreflightResult(tuple(results))


def _check_tests(tests: Sequence[TestLike]) -> str:
    if not tests:
        raise EntityError("the test set has no tests")
    if empty := [index for index, test in enumerate(tests) if not dict(test_texts(test))]:
        content = REQUIRED_CONTENT[tests[empty[0]].turns]
        raise EntityError(f"test at index {empty[0]} needs {content} ({len(empty)} such tests)")
    return f"{len(tests)} tests"


def _check_metrics(tests: Sequence[TestLike], metrics: MetricSelection) -> str:
    if missing := [index for index, test in enumerate(tests) if not metrics.for_test(test)]:
        raise MetricError(f"no metric is for the test at index {missing[0]} ({len(missing)} such tests)")
    names = (getattr(each, "name", None) or getattr(each, "id", "") for each in metrics.for_tests(tests))
    return ", ".join(map(str, names))


def _check_models(tests: Sequence[TestLike], metrics: MetricSelection, options: ExecutionOptions) -> str:
    """Check that each model exists. The models are not called."""
    from scoregate.models import get_model

    models = [each.model for each in metrics.for_tests(tests) if isinstance(each, Judge)]
    if any(test.turns is TestType.MULTI_TURN for test in tests):
        models += [options.execution_model, options.evaluation_model]
    return ", ".join(get_model(each).name for each in dict.fromkeys(models)) or "none is needed"
