"""Does the output meet every criterion of a rubric that is required?"""

from __future__ import annotations

import abc
from collections.abc import Awaitable, Sequence
from typing import Generic

from scoregate.core.evaluation import Assertion, Evaluation, Threshold
from scoregate.testing.models import BaseTestEvaluator, MaybeAwaitable, OutputType, TestCaseType


class BaseAssertions(BaseTestEvaluator[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if every required assertion holds, else 0; those not required are only shown. Passes at 1."""

    version = 1

    @abc.abstractmethod
    def evaluate_assertions(
        self, test_case: TestCaseType, output: OutputType
    ) -> Sequence[Assertion] | Awaitable[Sequence[Assertion] | None] | None:
        """Check the criteria; sync or async.

        Returns:
            The assertions; None or none at all where the case has no criteria, and then there is no evaluation.
        """

    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> MaybeAwaitable:
        """An `Evaluation` that carries the assertions, or an awaitable of it."""
        assertions = self.evaluate_assertions(test_case, output)
        return _awaited(assertions) if isinstance(assertions, Awaitable) else _evaluation(assertions)


async def _awaited(assertions: Awaitable[Sequence[Assertion] | None]) -> Evaluation | None:
    return _evaluation(await assertions)


def _evaluation(assertions: Sequence[Assertion] | None) -> Evaluation | None:
    if not assertions:
        return None
    held = all(assertion.passed for assertion in assertions if assertion.required)
    return Evaluation(score=1.0 if held else 0.0, threshold=Threshold(gte=1), assertions=tuple(assertions))


Assertions = BaseAssertions
