"""Is the output what was expected, to the letter?"""

from __future__ import annotations

import abc
from typing import Generic

from scoregate.core.evaluation import Evaluation, Threshold
from scoregate.testing.models import BaseTestEvaluator, OutputType, TestCaseType


class BaseIsEquals(BaseTestEvaluator[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if the expected output equals the actual one, else 0. Passes at 1."""

    version = 1

    @abc.abstractmethod
    def test_case_mapper(self, test_case: TestCaseType) -> str:
        """The output that the test case expects."""

    @abc.abstractmethod
    def output_mapper(self, output: OutputType) -> str:
        """The output as it is compared."""

    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> Evaluation:
        """Compare; where they differ, the metadata has both."""
        expected, actual = self.test_case_mapper(test_case), self.output_mapper(output)
        equal = expected == actual
        return Evaluation(
            score=1.0 if equal else 0.0,
            threshold=Threshold(gte=1),
            metadata=None if equal else {"expected_output": expected, "actual_output": actual},
        )


IsEquals = BaseIsEquals
