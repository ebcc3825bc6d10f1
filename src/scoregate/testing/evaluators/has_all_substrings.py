"""Does the output contain every text that it should?"""

from __future__ import annotations

import abc
from typing import Generic

from scoregate.core.evaluation import Evaluation, Threshold
from scoregate.testing.models import BaseTestEvaluator, OutputType, TestCaseType


class BaseHasAllSubstrings(BaseTestEvaluator[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if all expected substrings are in the output (case counts), else 0. Passes at 1."""

    version = 1

    @abc.abstractmethod
    def test_case_mapper(self, test_case: TestCaseType) -> list[str]:
        """The substrings that the test case expects."""

    @abc.abstractmethod
    def output_mapper(self, output: OutputType) -> str:
        """The text in which they are looked for."""

    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> Evaluation:
        """Look for each; the metadata lists those that are missing."""
        text = self.output_mapper(output)
        missing = [expected for expected in self.test_case_mapper(test_case) if expected not in text]
        return Evaluation(
            score=0.0 if missing else 1.0, threshold=Threshold(gte=1), metadata={"missing_substrings": missing}
        )


HasAllSubstrings = BaseHasAllSubstrings
