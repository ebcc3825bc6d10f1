"""Is the output better than the one before? What battles share, whoever judges them."""

from __future__ import annotations

import abc
from collections.abc import Awaitable
from functools import partial
from typing import Any, Generic

from anyio import to_thread

from scoregate.core.evaluation import Evaluation, Threshold
from scoregate.core.pending import Pending
from scoregate.engine.trial import Trial
from scoregate.testing.champions import crown, fight, recorded, revived, throne_of
from scoregate.testing.evaluators.asking import Text, resolved
from scoregate.testing.models import BaseTestEvaluator, OutputType, TestCaseType

CRITERIA = (
    "The better output is the more helpful one: it does what was asked for, is correct and clear, and leaves out what "
    "nobody needs."
)


class BaseBattle(BaseTestEvaluator[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if the output wins, 0.5 for a tie, else 0; passes at 0.5.

    The champion that it has to beat is the output in the base run's record; without one, the store's. Where there is
    none there is no evaluation. Without a base run the output becomes the store's champion if it wins or is the first.

    Attributes:
        criteria: what makes an output better; by default, that it is more helpful.
    """

    version = 1
    _battles = True
    threshold: Threshold | None = Threshold(gte=0.5)
    criteria: str = CRITERIA

    @abc.abstractmethod
    def output_mapper(self, output: OutputType) -> str | Awaitable[str]:
        """The text that is compared; sync or async."""

    def champion_mapper(self, recorded: Any, output: OutputType) -> Text:
        """The text of the base's output; needed only where outputs are of classes that their JSON cannot be made again.

        Args:
            recorded: the base's output as its record has it: JSON. output: the new one, for its class.

        Raises:
            InvalidSuite: the recorded output cannot be made an instance of the new one's class.
        """
        return self.output_mapper(revived(recorded, output))

    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> Awaitable[Evaluation | Pending | None]:
        """Let it fight; None where there is nobody to fight."""
        trial = fight()
        champion = self._champion(trial, test_case, output)
        return self._fought(trial, test_case, champion, challenger=self.output_mapper(output))

    def _champion(self, trial: Trial, test_case: TestCaseType, output: OutputType) -> Text:  # noqa: ARG002
        if (known := recorded(trial)) is not None:
            return self.champion_mapper(known, output)
        return throne_of(trial, self.id).champions.get(trial.case.hash)

    def _has_throne(self) -> bool:
        """Whether its winners are kept."""
        return True

    async def _fought(
        self, trial: Trial, test_case: TestCaseType, champion: Text, *, challenger: str | Awaitable[str]
    ) -> Evaluation | Pending | None:
        baseline, text = await resolved(champion), await resolved(challenger)
        found = None if baseline is None else await self._judged(trial, test_case, baseline, challenger=text)
        won = isinstance(found, Evaluation) and found.score == 1
        if self._has_throne() and (won or baseline is None):
            await to_thread.run_sync(partial(crown, trial, self.id, text))
        return found

    @abc.abstractmethod
    async def _judged(
        self, trial: Trial, test_case: TestCaseType, baseline: str, *, challenger: str
    ) -> Evaluation | Pending:
        """Who won."""
