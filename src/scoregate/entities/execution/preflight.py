"""Whether a test set can be run, before it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scoregate.entities.endpoint import Endpoint
from scoregate.entities.execution.asked import WANTED, Asked, said
from scoregate.entities.execution.choosing import measures_of
from scoregate.entities.execution.terms import Terms
from scoregate.enums import TestType
from scoregate.errors import EntityError, MetricError, ScoregateError
from scoregate.metrics.judge import Judge
from scoregate.store import Store

if TYPE_CHECKING:
    from scoregate.models import Model


@dataclass(frozen=True, slots=True)
class PreflightCheck:
    """One thing that has to be so, and what is to be said of it."""

    name: str
    passed: bool
    message: str


@dataclass(frozen=True, slots=True)
class PreflightResult:
    """All that was checked."""

    checks: tuple[PreflightCheck, ...]

    @property
    def passed(self) -> bool:
        """Whether all is as it has to be."""
        return self.failed_count == 0

    @property
    def passed_count(self) -> int:
        """How many things are as they have to be."""
        return len(self.checks) - self.failed_count

    @property
    def failed_count(self) -> int:
        """How many things are not."""
        return sum(not check.passed for check in self.checks)

    @property
    def summary(self) -> str:
        """A line for each check."""
        return "\n".join(f"{'ok' if each.passed else 'FAILED'}  {each.name}: {each.message}" for each in self.checks)


def checked(tests: Sequence[Asked], endpoint: Endpoint, terms: Terms, *, store: Store) -> PreflightResult:
    """Check all that a run needs."""
    checks: tuple[tuple[str, Callable[[], str]], ...] = (
        ("tests", lambda: _tests(tests)),
        ("metrics", lambda: _metrics(tests, terms, store)),
        ("models", lambda: _models(tests, terms, store)),
        ("endpoint", lambda: _endpoint(endpoint)),
    )
    return PreflightResult(tuple(_check(name, find) for name, find in checks))


def _check(name: str, find: Callable[[], str]) -> PreflightCheck:
    try:
        return PreflightCheck(name, True, find())
    except ScoregateError as error:
        return PreflightCheck(name, False, f"{error.message} {error.advice}".strip())


def _tests(tests: Sequence[Asked]) -> str:
    if not tests:
        raise EntityError("the test set has no tests")
    mute = [index for index, test in enumerate(tests) if not dict(said(test))]
    if mute:
        raise EntityError(f"test at index {mute[0]} needs {WANTED[tests[mute[0]].turns]} ({len(mute)} such tests)")
    return f"{len(tests)} tests"


def _metrics(tests: Sequence[Asked], terms: Terms, store: Store) -> str:
    measures = measures_of({test.behavior or "" for test in tests}, terms.metrics, store=store)
    if bare := [index for index, test in enumerate(tests) if not measures.of(test)]:
        raise MetricError(f"no metric is for the test at index {bare[0]} ({len(bare)} such tests)")
    found = measures.every({test.behavior or "" for test in tests})
    return ", ".join(str(getattr(each, "name", None) or getattr(each, "id", "")) for each in found)


def _models(tests: Sequence[Asked], terms: Terms, store: Store) -> str:
    """That each has a name that names something; whether it answers is seen only by asking."""
    from scoregate.models import get_model

    wanted = dict.fromkeys(_wanted(tests, terms, store))
    return ", ".join(get_model(each).name for each in wanted) or "none is needed"


def _wanted(tests: Sequence[Asked], terms: Terms, store: Store) -> Iterator[str | Model | None]:
    behaviors = {test.behavior or "" for test in tests}
    measures = measures_of(behaviors, terms.metrics, store=store, model=terms.evaluation_model)
    yield from (each.model for each in measures.every(behaviors) if isinstance(each, Judge))
    if any(test.turns is TestType.MULTI_TURN for test in tests):
        yield from (terms.execution_model, terms.evaluation_model)


def _endpoint(endpoint: Endpoint) -> str:
    endpoint.test()
    return f"{endpoint.name} answers"
