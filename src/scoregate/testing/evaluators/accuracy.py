"""Does the output say what was expected, in whatever words?"""

from __future__ import annotations

import abc
from collections.abc import Awaitable, Mapping
from typing import Generic

from scoregate.core.evaluation import Threshold
from scoregate.core.override import EvaluationOverride
from scoregate.errors import InvalidSuite
from scoregate.judging import Template
from scoregate.testing.evaluators.asking import Text
from scoregate.testing.evaluators.finding import found
from scoregate.testing.evaluators.output_judge import OutputJudge
from scoregate.testing.models import OutputType, TestCaseType
from scoregate.testing.reviews import ScoreChoice


class BaseAccuracy(OutputJudge[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if a model finds the output accurate, 0.5 if somewhat accurate, else 0. Passes at 1."""

    _template = Template.ACCURACY
    threshold = Threshold(gte=1)
    score_choices = (ScoreChoice(1, "Accurate"), ScoreChoice(0.5, "Somewhat accurate"), ScoreChoice(0, "Not accurate"))

    def expected_output_mapper(self, test_case: TestCaseType) -> str | Awaitable[str]:
        """What the output should say; by default the case's `expected_output`; sync or async.

        Raises:
            InvalidSuite: the case has no such field that is a string.
        """
        if (expected := found(test_case, "expected_output")) is None:
            raise InvalidSuite(
                f"{type(self).__name__} finds no string `expected_output` on a {type(test_case).__name__}",
                advice="Add that field to the test case, or implement expected_output_mapper(test_case) -> str.",
            )
        return expected

    def example_expected_output_mapper(self, evaluation_override: EvaluationOverride) -> Text:  # noqa: ARG002
        """The expected output of a correction; None leaves it out of the example; sync or async."""
        return None

    def _blocks(self, test_case: TestCaseType, output: OutputType) -> Mapping[str, Text]:
        return {"output": self.output_mapper(output), "expected output": self.expected_output_mapper(test_case)}

    def _example(self, override: EvaluationOverride) -> Mapping[str, Text]:
        expected = self.example_expected_output_mapper(override)
        return {"output": self.example_output_mapper(override), "expected output": expected}


Accuracy = BaseAccuracy
