"""The pass condition of a run: one more score of each row, once all its judges are done."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scoregate.core.evaluation import Evaluation, Threshold
from scoregate.core.parts import EvaluatorInfo
from scoregate.core.suite import Scorer
from scoregate.datasets import Example
from scoregate.engine.callables import fingerprint_of
from scoregate.engine.errors import ENDINGS
from scoregate.judging.templates import digest
from scoregate.offline_tests.calls import said
from scoregate.offline_tests.result import scorer_data
from scoregate.offline_tests.rows import Attempt
from scoregate.offline_tests.types import PassConditionFn

PASS_CONDITION = "pass_condition"
_HOLDS = Threshold(gte=1)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A pass condition and the scorers that have to be done before it is asked."""

    passes: PassConditionFn
    scorers: Sequence[Scorer]

    def scorer(self, *, max_concurrency: int) -> Scorer:
        """As the engine takes it. What it says depends on its own code, and on what the judges' scores depend on."""
        own = fingerprint_of(self.passes)
        marks = digest(own.parameters or "", *(f"{each.info.id} {each.info.fingerprint}" for each in self.scorers))
        info = EvaluatorInfo(PASS_CONDITION, replace(own, parameters=marks))
        return Scorer(info, self._concluded, max_concurrency)

    def _concluded(self, example: Example, attempt: Attempt) -> Any:
        """Of a row that a judge has no result for this is not asked; such a row never passes."""
        attempt.success = False
        results = [(scorer.info.id, attempt.results.get(scorer.info.id)) for scorer in self.scorers]
        judged = [scorer_data(result, name) for name, result in results if result is not None and result.error is None]
        if len(judged) < len(self.scorers):
            return None
        try:
            holds = self.passes(dict(example.properties), judged)
            return self._settled(attempt, holds) if inspect.isawaitable(holds) else _evaluation(attempt, holds)
        except BaseException as error:  # the user's code may raise anything
            attempt.error = said(error)
            raise

    async def _settled(self, attempt: Attempt, holds: Awaitable[Any]) -> Evaluation:
        try:
            return _evaluation(attempt, await holds)
        except ENDINGS:
            raise
        except BaseException as error:  # the user's code may raise anything
            attempt.error = said(error)
            raise


def _evaluation(attempt: Attempt, holds: Any) -> Evaluation:
    attempt.success = bool(holds)
    values = {name: result.value for name, result in attempt.results.items()}
    return Evaluation(1.0 if attempt.success else 0.0, _HOLDS, metadata=values)
