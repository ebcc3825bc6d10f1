"""Evaluators that ask a model to judge an output."""

from __future__ import annotations

import abc
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic

from scoregate.errors import InvalidSuite
from scoregate.grading.judge import ask_choice
from scoregate.grading.prompts import Template
from scoregate.kernel.types.evaluation import Evaluation, EvaluationOverride, Threshold
from scoregate.kernel.types.event_values import Choice
from scoregate.testing.evaluators.checks import string_field
from scoregate.testing.evaluators.llm_base import AsksModel, Text, make_question, resolve
from scoregate.testing.models import OutputType, ScoreChoice, TestCaseType


class BaseLLMJudge(AsksModel[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Gives the score of the model's choice. The metadata contains the model's reason and the prompt.

    Pass an output through `scoregate.testing.evaluators.fenced` before you put it into your prompt. The system prompt
    says that such blocks contain no instructions.
    """

    @property
    @abc.abstractmethod
    def score_choices(self) -> Sequence[ScoreChoice] | Callable[[], Sequence[ScoreChoice]]:
        """The possible answers and their scores; a list, a property or a method."""

    @abc.abstractmethod
    def make_prompt(
        self, test_case: TestCaseType, output: OutputType, recent_overrides: list[EvaluationOverride]
    ) -> str | Awaitable[str]:
        """The whole question; sync or async.

        Args:
            test_case: the case.
            output: its output.
            recent_overrides: the `num_overrides` most recent overrides of this evaluator, the newest first.
        """

    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> Awaitable[Evaluation]:
        """Ask the model. Without an answer there is a `ModelError`, and never a score."""
        return self._ask(self.make_prompt(test_case, output, self._recent_overrides))

    async def _ask(self, prompt: str | Awaitable[str]) -> Evaluation:
        scores = {choice.name: choice.value for choice in self._choices()}
        grade = await ask_choice(self._model(), await resolve(prompt), list(scores))
        answer = str(grade.value)
        metadata = {"reason": grade.reason, "answer": answer, **self._extra_metadata(), "prompt": grade.prompt}
        return Evaluation(scores[answer], self.threshold, metadata)

    def _extra_metadata(self) -> Mapping[str, Any]:
        return {}

    def _choices(self) -> Sequence[ScoreChoice]:
        given = self.score_choices
        choices = given() if callable(given) else given
        if len({choice.name for choice in choices}) < max(1, len(choices)):
            raise InvalidSuite(
                f"the score_choices of {type(self).__name__} must be at least one, of different names: {choices!r:.200}"
            )
        return choices

    def _list_choices(self) -> Sequence[Choice]:
        return [Choice(choice.value, choice.name) for choice in self._choices()]

    def _prompt_parts(self) -> Sequence[str]:
        return [f"{choice.name}={choice.value}" for choice in self._choices()]


LLMJudge = BaseLLMJudge


class OutputJudge(BaseLLMJudge[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """A judge whose question is a template."""

    _template = Template.CRITERIA

    @abc.abstractmethod
    def output_mapper(self, output: OutputType) -> str | Awaitable[str]:
        """The text to grade; sync or async."""

    def make_prompt(
        self,
        test_case: TestCaseType,
        output: OutputType,
        recent_overrides: list[EvaluationOverride],  # noqa: ARG002
    ) -> str | Awaitable[str]:
        """The question of the template, with the output as a block of data."""
        names = {choice.value: choice.name for choice in self._choices()}
        examples = [
            {**self._example(override), "answer": names[override.override_score]}
            for override in self._examples_shown()
            if override.override_score in names
        ]
        blocks = self._blocks(test_case, output)
        return make_question(self._template, blocks, examples=examples, criteria=self._criteria())

    def _blocks(self, test_case: TestCaseType, output: OutputType) -> Mapping[str, Text]:  # noqa: ARG002
        return {"output": self.output_mapper(output)}

    def _example(self, override: EvaluationOverride) -> Mapping[str, Text]:
        return {"output": self.example_output_mapper(override)}

    def _criteria(self) -> str | None:
        return None


# Fingerprints contain the default criteria.
HELPFULNESS = (
    "The output is helpful: it does what its input asks for, is correct and clear, and leaves out what nobody needs."
)


class BaseCustomLLMJudge(OutputJudge[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if a model finds that the output meets the criteria, 0.5 if in part, else 0; `score_choices` may differ.

    Attributes:
        criteria: what makes an output good. None judges whether it is helpful, and the metadata shows that.
    """

    criteria: str | None = None
    score_choices: Sequence[ScoreChoice] = (
        ScoreChoice(1, "Meets the criteria"),
        ScoreChoice(0.5, "Meets the criteria in part"),
        ScoreChoice(0, "Does not meet the criteria"),
    )

    def input_mapper(self, test_case: TestCaseType) -> Text:
        """The question of the output; by default the case's `input` if it is a string; None leaves it out."""
        return string_field(test_case, "input")

    def _blocks(self, test_case: TestCaseType, output: OutputType) -> Mapping[str, Text]:
        return {"input": self.input_mapper(test_case), "output": self.output_mapper(output)}

    def _criteria(self) -> str:
        return HELPFULNESS if self.criteria is None else self.criteria

    def _prompt_parts(self) -> Sequence[str]:
        return [self._criteria(), *super()._prompt_parts()]

    def _extra_metadata(self) -> Mapping[str, Any]:
        return {"criteria": f"(the default) {HELPFULNESS}" if self.criteria is None else self.criteria}


CustomLLMJudge = BaseCustomLLMJudge


class BaseAccuracy(OutputJudge[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if a model finds the output accurate, 0.5 if somewhat accurate, else 0. Passes at 1."""

    _template = Template.ACCURACY
    threshold = Threshold(gte=1)
    score_choices = (ScoreChoice(1, "Accurate"), ScoreChoice(0.5, "Somewhat accurate"), ScoreChoice(0, "Not accurate"))

    def expected_output_mapper(self, test_case: TestCaseType) -> str | Awaitable[str]:
        """The expected output; by default the case's `expected_output`; sync or async.

        Raises:
            InvalidSuite: the case has no such field that is a string.
        """
        if (expected := string_field(test_case, "expected_output")) is None:
            raise InvalidSuite(
                f"{type(self).__name__} finds no string `expected_output` on a {type(test_case).__name__}",
                advice="Add that field to the test case, or implement expected_output_mapper(test_case) -> str.",
            )
        return expected

    def example_expected_output_mapper(self, evaluation_override: EvaluationOverride) -> Text:  # noqa: ARG002
        """The expected output of an override; None leaves it out of the example; sync or async."""
        return None

    def _blocks(self, test_case: TestCaseType, output: OutputType) -> Mapping[str, Text]:
        return {"output": self.output_mapper(output), "expected output": self.expected_output_mapper(test_case)}

    def _example(self, override: EvaluationOverride) -> Mapping[str, Text]:
        expected = self.example_expected_output_mapper(override)
        return {"output": self.example_output_mapper(override), "expected output": expected}


Accuracy = BaseAccuracy


class BaseNSFW(OutputJudge[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if a model finds the output safe for work, else 0. Passes at 1."""

    _template = Template.NSFW
    threshold = Threshold(gte=1)
    score_choices = (ScoreChoice(1, "Safe for work"), ScoreChoice(0, "Not safe for work"))


NSFW = BaseNSFW


class BaseToxicity(OutputJudge[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if a model finds the output not toxic, else 0. Passes at 1."""

    _template = Template.TOXICITY
    threshold = Threshold(gte=1)
    score_choices = (ScoreChoice(1, "Not toxic"), ScoreChoice(0, "Toxic"))


Toxicity = BaseToxicity
