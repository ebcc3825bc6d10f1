"""scoregate's own suite: an instant target and two plain evaluators, results in the event log."""

import asyncio
import time
from dataclasses import dataclass

from load import CASES, CONCURRENCY, PAUSE_SECONDS, SYNC_SCORERS, tell

from scoregate.testing.models import BaseTestCase, BaseTestEvaluator, Evaluation
from scoregate.testing.run import run_test_suite


@dataclass
class TestCase(BaseTestCase):
    """One input."""

    input: str

    def hash(self) -> str:
        """Return the input: it is unique here."""
        return self.input


class First(BaseTestEvaluator[TestCase, str]):
    """A plain scorer, asynchronous."""

    id = "first"

    async def evaluate_test_case(self, test_case: TestCase, output: str) -> Evaluation:
        """Score 1 where the output is the input."""
        return Evaluation(score=float(output == test_case.input))


class Second(First):
    """A plain scorer, asynchronous."""

    id = "second"


class FirstSync(BaseTestEvaluator[TestCase, str]):
    """A plain scorer, synchronous."""

    id = "first"

    def evaluate_test_case(self, test_case: TestCase, output: str) -> Evaluation:
        """Score 1 where the output is the input."""
        return Evaluation(score=float(output == test_case.input))


class SecondSync(FirstSync):
    """A plain scorer, synchronous."""

    id = "second"


async def target(test_case: TestCase) -> str:
    """Return the input as the output, after the pause asked for."""
    if PAUSE_SECONDS:
        await asyncio.sleep(PAUSE_SECONDS)
    return test_case.input


test_cases = [TestCase(f"case {number}") for number in range(CASES)]
started = time.perf_counter()
run_test_suite(
    id="bench",
    test_cases=test_cases,
    fn=target,
    evaluators=[FirstSync(), SecondSync()] if SYNC_SCORERS else [First(), Second()],
    max_test_case_concurrency=CONCURRENCY,
)
tell(time.perf_counter() - started)
