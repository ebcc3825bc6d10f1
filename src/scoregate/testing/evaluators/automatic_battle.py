"""A model says whether the output is better than the one before."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Generic

from scoregate.core.evaluation import Evaluation
from scoregate.core.parts import Choice
from scoregate.engine.trial import Trial
from scoregate.judging import Template, battle
from scoregate.testing.evaluators.asking import AsksModel, Text, resolved
from scoregate.testing.evaluators.battle import BaseBattle
from scoregate.testing.evaluators.finding import found
from scoregate.testing.models import OutputType, TestCaseType

_WORDS = {1.0: "better than the one before", 0.5: "as good as the one before", 0.0: "worse than the one before"}


class BaseAutomaticBattle(
    AsksModel[TestCaseType, OutputType],
    BaseBattle[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """A battle that a model judges, asked in both orders: where its answers disagree, it is a tie.

    The metadata has both reasons, the two outputs, the criteria, and what was asked.
    """

    _template = Template.BATTLE
    threshold = BaseBattle.threshold

    def input_mapper(self, test_case: TestCaseType) -> Text:
        """What both outputs answer; by default the case's `input`, if that is a string; None leaves it out."""
        return found(test_case, "input")

    def _offered(self) -> Sequence[Choice]:
        """The scores that it can give, for the record."""
        return [Choice(score, words) for score, words in _WORDS.items()]

    async def _judged(
        self,
        trial: Trial,  # noqa: ARG002
        test_case: TestCaseType,
        baseline: str,
        *,
        challenger: str,
    ) -> Evaluation:
        fought = await battle(
            self._model(),
            baseline,
            challenger,
            criteria=self.criteria,
            input_text=await resolved(self.input_mapper(test_case)),
            examples=await self._examples(),
        )
        metadata = {"reason": " / ".join(fought.reasons), "baseline": baseline, "challenger": challenger}
        return Evaluation(
            fought.score, self.threshold, {**metadata, "criteria": self.criteria, "prompt": "\n\n".join(fought.prompts)}
        )

    async def _examples(self) -> Sequence[Mapping[str, str]]:
        shown = [each for each in self._examples_shown() if each.override_score in _WORDS]
        texts = [(await resolved(self.example_output_mapper(each)), _WORDS[each.override_score]) for each in shown]
        return [{"output": text, "answer": answer} for text, answer in texts if text]

    def _words(self) -> Sequence[str]:
        return [self.criteria]


AutomaticBattle = BaseAutomaticBattle
