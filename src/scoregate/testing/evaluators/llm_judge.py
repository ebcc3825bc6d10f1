"""A model answers a question of yours by one of your choices."""

from __future__ import annotations

import abc
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic

from scoregate.core.evaluation import Evaluation
from scoregate.core.override import EvaluationOverride
from scoregate.core.parts import Choice
from scoregate.errors import InvalidSuite
from scoregate.judging import judge
from scoregate.testing.evaluators.asking import AsksModel, resolved
from scoregate.testing.models import OutputType, TestCaseType
from scoregate.testing.reviews import ScoreChoice


class BaseLLMJudge(AsksModel[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores what the choice stands for. The metadata has the model's reason, and what it was asked.

    Pass what an output says through `scoregate.testing.evaluators.fenced` before it becomes a part of your prompt: the
    model is told not to obey what stands between fences.
    """

    @property
    @abc.abstractmethod
    def score_choices(self) -> Sequence[ScoreChoice] | Callable[[], Sequence[ScoreChoice]]:
        """What may be answered, and the scores that the answers stand for; a list, a property or a method."""

    @abc.abstractmethod
    def make_prompt(
        self, test_case: TestCaseType, output: OutputType, recent_overrides: list[EvaluationOverride]
    ) -> str | Awaitable[str]:
        """The question, with everything that it takes to answer it; sync or async.

        Args:
            recent_overrides: people's `num_overrides` most recent corrections of this evaluator, the newest first.
        """

    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> Awaitable[Evaluation]:
        """Ask. What fails to be answered raises a `ModelError`, and is never a score."""
        return self._graded(self.make_prompt(test_case, output, self._recent_overrides))

    async def _graded(self, prompt: str | Awaitable[str]) -> Evaluation:
        scores = {choice.name: choice.value for choice in self._choices()}
        told = await judge(self._model(), await resolved(prompt), list(scores))
        metadata = {"reason": told.reason, "answer": told.choice, **self._remarks(), "prompt": told.prompt}
        return Evaluation(scores[told.choice], self.threshold, metadata)

    def _remarks(self) -> Mapping[str, Any]:
        """What the metadata says besides."""
        return {}

    def _choices(self) -> Sequence[ScoreChoice]:
        given = self.score_choices
        choices = given() if callable(given) else given
        if len({choice.name for choice in choices}) < max(1, len(choices)):
            raise InvalidSuite(
                f"the score_choices of {type(self).__name__} must be at least one, of different names: {choices!r:.200}"
            )
        return choices

    def _offered(self) -> Sequence[Choice]:
        """The scores that it can give, for the record."""
        return [Choice(choice.value, choice.name) for choice in self._choices()]

    def _words(self) -> Sequence[str]:
        return [f"{choice.name}={choice.value}" for choice in self._choices()]


LLMJudge = BaseLLMJudge
