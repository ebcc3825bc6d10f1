"""Does the output meet criteria in your words?"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, Generic

from scoregate.testing.evaluators.asking import Text
from scoregate.testing.evaluators.finding import found
from scoregate.testing.evaluators.output_judge import OutputJudge
from scoregate.testing.models import OutputType, TestCaseType
from scoregate.testing.reviews import ScoreChoice

HELPFULNESS = (
    "The output is helpful: it does what its input asks for, is correct and clear, and leaves out what nobody needs."
)


class BaseCustomLLMJudge(OutputJudge[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if a model finds that the output meets the criteria, 0.5 if in part, else 0; `score_choices` may differ.

    Attributes:
        criteria: what makes an output good. None judges whether it is helpful, and the metadata says so.
    """

    criteria: str | None = None
    score_choices: Sequence[ScoreChoice] = (
        ScoreChoice(1, "Meets the criteria"),
        ScoreChoice(0.5, "Meets the criteria in part"),
        ScoreChoice(0, "Does not meet the criteria"),
    )

    def input_mapper(self, test_case: TestCaseType) -> Text:
        """What the output answers; by default the case's `input`, if that is a string; None leaves it out."""
        return found(test_case, "input")

    def _blocks(self, test_case: TestCaseType, output: OutputType) -> Mapping[str, Text]:
        return {"input": self.input_mapper(test_case), "output": self.output_mapper(output)}

    def _criteria(self) -> str:
        return HELPFULNESS if self.criteria is None else self.criteria

    def _words(self) -> Sequence[str]:
        return [self._criteria(), *super()._words()]

    def _remarks(self) -> Mapping[str, Any]:
        return {"criteria": f"(the default) {HELPFULNESS}" if self.criteria is None else self.criteria}


CustomLLMJudge = BaseCustomLLMJudge
