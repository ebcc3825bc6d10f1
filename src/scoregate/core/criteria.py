"""By what measure a difference counts: levels, effects worth a word, directions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import log


@dataclass(frozen=True, slots=True)
class EvaluatorCriteria:
    """What holds for one evaluator; None leaves it to the wider criteria or to the evaluator itself.

    `min_effect` and `margin` are in the unit of the scores, 0 to 1.
    """

    higher_is_better: bool | None = None
    min_effect: float | None = None
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class Criteria:
    """What holds for all rows.

    Args:
        alpha: the rate of false discoveries that labels and gates are held to, half of it in each direction.
        min_effect: smaller differences are never called better or worse; of the scale of scores.
        margin: an interval within ± this is called equivalent; of the scale of scores.
        min_ratio: as `min_effect`, for latency, cost and tokens: 0.05 is 5 %.
        few: fewer pairs (or clusters) than this are too few for a call.
        max_dropped: with a larger share of pairs dropped for errors, a row is unmeasurable.
        max_lost: with a larger share of scores lost to None, and more than by chance, a row is unmeasurable.
        evaluators: what differs for some, by glob; later ones win.
    """

    alpha: float = 0.05
    min_effect: float = 0.01
    margin: float = 0.02
    min_ratio: float = 0.05
    few: int = 10
    max_dropped: float = 0.05
    max_lost: float = 0.05
    evaluators: Mapping[str, EvaluatorCriteria] = field(default_factory=dict)

    def of(self, evaluator: str) -> EvaluatorCriteria:
        """What holds for one evaluator, effect and margin filled in."""
        direction, effect, margin = None, self.min_effect, self.margin
        for glob, own in self.evaluators.items():
            if fnmatchcase(evaluator, glob):
                direction = direction if own.higher_is_better is None else own.higher_is_better
                effect = effect if own.min_effect is None else own.min_effect
                margin = margin if own.margin is None else own.margin
        return EvaluatorCriteria(direction, effect, margin)

    @property
    def of_ratios(self) -> EvaluatorCriteria:
        """What holds for log ratios."""
        return EvaluatorCriteria(False, log(1 + self.min_ratio), log(1 + self.min_ratio))
