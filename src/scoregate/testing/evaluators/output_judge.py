"""A model grades the text of an output: what the ready judges share."""

from __future__ import annotations

import abc
from collections.abc import Awaitable, Mapping
from typing import Generic

from scoregate.core.override import EvaluationOverride
from scoregate.judging import Template
from scoregate.testing.evaluators.asking import Text, question
from scoregate.testing.evaluators.llm_judge import BaseLLMJudge
from scoregate.testing.models import OutputType, TestCaseType


class OutputJudge(BaseLLMJudge[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Asks the question of its template."""

    _template = Template.CRITERIA

    @abc.abstractmethod
    def output_mapper(self, output: OutputType) -> str | Awaitable[str]:
        """The text that is graded; sync or async."""

    def make_prompt(
        self,
        test_case: TestCaseType,
        output: OutputType,
        recent_overrides: list[EvaluationOverride],  # noqa: ARG002
    ) -> str | Awaitable[str]:
        """The template's question, with the output between fences."""
        names = {choice.value: choice.name for choice in self._choices()}
        known = [(each, names[each.override_score]) for each in self._examples_shown() if each.override_score in names]
        examples = [{**self._example(each), "answer": answer} for each, answer in known]
        blocks = self._blocks(test_case, output)
        return question(self._template, blocks, examples=examples, criteria=self._criteria())

    def _blocks(self, test_case: TestCaseType, output: OutputType) -> Mapping[str, Text]:  # noqa: ARG002
        return {"output": self.output_mapper(output)}

    def _example(self, override: EvaluationOverride) -> Mapping[str, Text]:
        return {"output": self.example_output_mapper(override)}

    def _criteria(self) -> str | None:
        return None
