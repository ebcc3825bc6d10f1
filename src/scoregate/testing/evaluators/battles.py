"""Evaluators that compare an output with an earlier one: battles, judged by a model or by people."""

from __future__ import annotations

import abc
from collections.abc import Awaitable, Sequence
from functools import partial
from typing import Any, Generic

from anyio import to_thread

from scoregate.engine.baseline_outputs import current_trial, recorded_baseline
from scoregate.engine.trial import Trial
from scoregate.grading.judge import BATTLE_CRITERIA, judge_battle
from scoregate.grading.prompts import Template
from scoregate.kernel.types.evaluation import Evaluation, EvaluationOverride, Threshold
from scoregate.kernel.types.event_values import Choice, PairwiseComparison, Pending
from scoregate.testing.battle_state import get_battle_state, restore_output, save_baseline_output
from scoregate.testing.evaluators.checks import string_field
from scoregate.testing.evaluators.llm_base import AsksModel, Text, resolve
from scoregate.testing.models import BaseTestEvaluator, OutputType, TestCaseType


class BaseBattle(BaseTestEvaluator[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if the output wins, 0.5 for a tie, else 0; passes at 0.5.

    The output to beat is that of the base run; without a base run, the output in the store. If there is none, there is
    no evaluation. Without a base run, the first output and each winner go to the store.

    Attributes:
        criteria: what makes an output better; by default, that it is more helpful.
    """

    version = 1
    _battles = True
    threshold: Threshold | None = Threshold(gte=0.5)
    criteria: str = BATTLE_CRITERIA

    @abc.abstractmethod
    def output_mapper(self, output: OutputType) -> str | Awaitable[str]:
        """The text to compare; sync or async."""

    def champion_mapper(self, recorded: Any, output: OutputType) -> Text:
        """The text of the base run's output. Override it if the class of outputs can't be restored from JSON.

        Args:
            recorded: the base run's output as JSON.
            output: the new output, for its class.

        Raises:
            InvalidSuite: the recorded output can't be restored as an instance of the new one's class.
        """
        return self.output_mapper(restore_output(recorded, output))

    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> Awaitable[Evaluation | Pending | None]:
        """Compare the output with the one to beat; None if there is none."""
        trial = current_trial()
        baseline = self._baseline(trial, test_case, output)
        return self._run_battle(trial, test_case, baseline, challenger=self.output_mapper(output))

    def _baseline(self, trial: Trial, test_case: TestCaseType, output: OutputType) -> Text:  # noqa: ARG002
        if (recorded := recorded_baseline(trial)) is not None:
            return self.champion_mapper(recorded, output)
        return get_battle_state(trial, self.id).outputs.get(trial.case.hash)

    def _stores_winners(self) -> bool:
        return True

    async def _run_battle(
        self, trial: Trial, test_case: TestCaseType, baseline: Text, *, challenger: str | Awaitable[str]
    ) -> Evaluation | Pending | None:
        known, text = await resolve(baseline), await resolve(challenger)
        result = None if known is None else await self._judge(trial, test_case, known, challenger=text)
        has_won = isinstance(result, Evaluation) and result.score == 1
        if self._stores_winners() and (has_won or known is None):
            await to_thread.run_sync(partial(save_baseline_output, trial, self.id, text))
        return result

    @abc.abstractmethod
    async def _judge(
        self, trial: Trial, test_case: TestCaseType, baseline: str, *, challenger: str
    ) -> Evaluation | Pending:
        """Decide which output wins."""


_OUTCOMES = {1.0: "better than the one before", 0.5: "as good as the one before", 0.0: "worse than the one before"}


class BaseAutomaticBattle(
    AsksModel[TestCaseType, OutputType],
    BaseBattle[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """A battle that a model judges, once in each order; different answers are a tie.

    The metadata contains both reasons, the two outputs, the criteria and the prompts.
    """

    _template = Template.BATTLE
    threshold = BaseBattle.threshold

    def input_mapper(self, test_case: TestCaseType) -> Text:
        """The question of both outputs; by default the case's `input` if it is a string; None leaves it out."""
        return string_field(test_case, "input")

    def _list_choices(self) -> Sequence[Choice]:
        return [Choice(score, name) for score, name in _OUTCOMES.items()]

    async def _judge(
        self,
        trial: Trial,  # noqa: ARG002
        test_case: TestCaseType,
        baseline: str,
        *,
        challenger: str,
    ) -> Evaluation:
        examples = []
        for override in self._examples_shown():
            answer = _OUTCOMES.get(override.override_score)
            if answer and (text := await resolve(self.example_output_mapper(override))):
                examples.append({"output": text, "answer": answer})
        grade = await judge_battle(
            self._model(),
            baseline,
            challenger,
            criteria=self.criteria,
            input_text=await resolve(self.input_mapper(test_case)),
            examples=examples,
        )
        metadata = {"reason": grade.reason, "baseline": baseline, "challenger": challenger}
        more = {"criteria": self.criteria, "prompt": grade.prompt}
        return Evaluation(grade.score or 0.0, self.threshold, {**metadata, **more})

    def _prompt_parts(self) -> Sequence[str]:
        return [self.criteria]


AutomaticBattle = BaseAutomaticBattle


class BaseManualBattle(BaseBattle[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """A battle that people judge: pending until the store has a verdict on this pair of outputs.

    `scoregate review` and `scoregate verdicts add` store verdicts. `num_overrides` has no effect: people need no
    examples.
    """

    num_overrides: int = 0

    def example_output_mapper(self, evaluation_override: EvaluationOverride) -> Text:  # noqa: ARG002
        """The output of an override; has no effect."""
        return None

    def baseline_mapper(self, test_case: TestCaseType) -> Text:  # noqa: ARG002
        """The text to beat instead of a stored output; None means that there is none; sync or async."""
        return None

    def _stores_winners(self) -> bool:
        return type(self).baseline_mapper is BaseManualBattle.baseline_mapper

    def _baseline(self, trial: Trial, test_case: TestCaseType, output: OutputType) -> Text:
        is_stored = self._stores_winners()
        return super()._baseline(trial, test_case, output) if is_stored else self.baseline_mapper(test_case)

    async def _judge(
        self,
        trial: Trial,
        test_case: TestCaseType,  # noqa: ARG002
        baseline: str,
        *,
        challenger: str,
    ) -> Evaluation | Pending:
        pair = PairwiseComparison(baseline, challenger, self.criteria, self.threshold)
        if baseline == challenger:
            metadata = {"baseline": baseline, "challenger": challenger, "criteria": self.criteria}
            return Evaluation(0.5, self.threshold, {"reason": "the outputs are the same", **metadata})
        verdict = get_battle_state(trial, self.id).verdict
        winner = await to_thread.run_sync(partial(verdict, trial.case.hash, baseline=baseline, challenger=challenger))
        if winner is None:
            return Pending(self.criteria, pair)
        from scoregate.store.apply_reviews import to_evaluation

        return to_evaluation(pair, winner)


ManualBattle = BaseManualBattle
