"""People say whether the output is better than the one before."""

from __future__ import annotations

import abc
from functools import partial
from typing import Generic

from anyio import to_thread

from scoregate.core.evaluation import Evaluation
from scoregate.core.override import EvaluationOverride
from scoregate.core.pending import Contest, Pending
from scoregate.engine.trial import Trial
from scoregate.testing.champions import throne_of
from scoregate.testing.evaluators.asking import Text
from scoregate.testing.evaluators.battle import BaseBattle
from scoregate.testing.models import OutputType, TestCaseType


class BaseManualBattle(BaseBattle[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """A battle that people judge: pending until the store has a verdict on this pair of outputs.

    `scoregate review` and `scoregate verdicts add` give one. `num_overrides` is taken and has no effect: people need no
    examples.
    """

    num_overrides: int = 0

    def example_output_mapper(self, evaluation_override: EvaluationOverride) -> Text:  # noqa: ARG002
        """The output of a correction; not used."""
        return None

    def baseline_mapper(self, test_case: TestCaseType) -> Text:  # noqa: ARG002
        """What the output has to beat, where that is no champion; None: there is nothing to beat; sync or async."""
        return None

    def _has_throne(self) -> bool:
        return type(self).baseline_mapper is BaseManualBattle.baseline_mapper

    def _champion(self, trial: Trial, test_case: TestCaseType, output: OutputType) -> Text:
        return super()._champion(trial, test_case, output) if self._has_throne() else self.baseline_mapper(test_case)

    async def _judged(
        self,
        trial: Trial,
        test_case: TestCaseType,  # noqa: ARG002
        baseline: str,
        *,
        challenger: str,
    ) -> Evaluation | Pending:
        contest = Contest(baseline, challenger, self.criteria, self.threshold)
        if baseline == challenger:
            pair = {"baseline": baseline, "challenger": challenger, "criteria": self.criteria}
            return Evaluation(0.5, self.threshold, {"reason": "the outputs are the same", **pair})
        verdict = throne_of(trial, self.id).verdict
        winner = await to_thread.run_sync(partial(verdict, trial.case.hash, baseline=baseline, challenger=challenger))
        if winner is None:
            return Pending(self.criteria, contest)
        from scoregate.store.counting import evaluation_of

        return evaluation_of(contest, winner)


ManualBattle = BaseManualBattle
