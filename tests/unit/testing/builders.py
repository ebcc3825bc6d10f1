"""Short suites for the tests of the SDK."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoregate.kernel.types.event_json import parse_event
from scoregate.kernel.types.events import Event
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.testing.models import BaseTestCase, BaseTestEvaluator, Evaluation, Threshold
from scoregate.testing.run import run_test_suite

PASS = Evaluation(1, Threshold(gte=1))
FAIL = Evaluation(0, Threshold(gte=1))


@dataclass
class Case(BaseTestCase):
    input: str
    expected: str = ""

    def hash(self) -> str:
        return self.input


class Judge(BaseTestEvaluator[Any, Any]):
    """Scores by a function of case and output, in a thread."""

    def __init__(self, score: Callable[..., Any], name: str = "judge", max_concurrency: int = 10) -> None:
        self._score = score
        self._name = name
        self.max_concurrency = max_concurrency

    @property
    def id(self) -> str:
        return self._name

    def evaluate_test_case(self, test_case: Any, output: Any, **kwargs: Any) -> Any:
        return self._score(test_case, output, **kwargs)


class AsyncJudge(Judge):
    """Scores by an async function, in the event loop."""

    async def evaluate_test_case(self, test_case: Any, output: Any, **kwargs: Any) -> Any:
        return await self._score(test_case, output, **kwargs)


def cases(count: int) -> list[Case]:
    return [Case(str(number)) for number in range(count)]


def echo(test_case: Any) -> Any:
    """A function under test that returns its input."""
    return test_case.input


def passing(*_: Any, **__: Any) -> Evaluation:
    return PASS


def run(
    fn: Callable[[Any], Any] = echo,
    evaluators: Iterable[Any] = (),
    test_cases: Iterable[Any] = (Case("a"), Case("b"), Case("c")),
    **options: Any,
) -> SuiteResult:
    """Run a suite called `demo`."""
    return run_test_suite("demo", test_cases, fn, evaluators, **options)


def by_hash(result: SuiteResult) -> dict[str, CaseResult]:
    return {case.hash: case for case in result.cases}


def only(result: SuiteResult) -> CaseResult:
    """The one case of a result."""
    (case,) = result.cases
    return case


def outcomes(result: SuiteResult) -> dict[str, str]:
    """The status of each case, by its hash."""
    return {case.hash: str(case.status) for case in result.cases}


def read_events(folder: Path) -> list[Event]:
    """The events of all logs in a folder, log by log."""
    lines = (line for path in sorted(folder.glob("*.jsonl")) for line in path.read_bytes().splitlines())
    return [parse_event(line) for line in lines]
