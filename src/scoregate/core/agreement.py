"""How well a judge agrees with people, from pairs of scores of the same outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import sqrt
from typing import Protocol, TypeAlias

from scoregate.core.distributions import normal_quantile
from scoregate.core.intervals import wilson

_DIGITS = 9
Shares: TypeAlias = Mapping[float, float]


class Conclusion(StrEnum):
    """Whether a judge agrees with people as often as is demanded; `too_few` judgements say neither."""

    HOLDS = "holds"
    BELOW = "below"
    TOO_FEW = "too_few"


class Corrected(Protocol):
    """Anything that holds a judge's score and a person's; an override does."""

    @property
    def original_score(self) -> float:
        """The judge's."""

    @property
    def override_score(self) -> float:
        """The person's; the same where the person agrees."""


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa: 1 is full agreement, 0 what chance would give; its standard error and interval."""

    value: float
    error: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of a judge with people over `n` judgements.

    Args:
        n: how many, at least 1. matching: of them, how many have equal scores.
        accuracy: matching / n, in [0, 1]; `low` and `high` are its Wilson interval.
        kappa: None where one score was given to everything, by both, and chance would agree as well.
        confusion: how often a pair (the judge's score, the person's) came; pairs that never came are left out.
    """

    n: int
    matching: int
    accuracy: float
    low: float
    high: float
    kappa: Kappa | None
    confusion: Mapping[tuple[float, float], int] = field(repr=False)

    def conclusion(self, least: float | None, *, fewest: int) -> Conclusion | None:
        """Hold the accuracy against the least that is demanded, in [0, 1], once there are the fewest judgements.

        None where nothing is demanded of enough judgements.
        """
        if self.n < fewest:
            return Conclusion.TOO_FEW
        if least is None:
            return None
        return Conclusion.BELOW if self.accuracy < least else Conclusion.HOLDS

    @property
    def scores(self) -> tuple[float, ...]:
        """Every score that either gave, in order."""
        return tuple(sorted({score for pair in self.confusion for score in pair}))


def agreement(judged: Iterable[Corrected], confidence: float = 0.95) -> Agreement | None:
    """The agreement of a judge with people; None where nothing was judged.

    Scores are categories: they agree or they do not, however far apart. They are equal to nine digits.
    """
    pairs = ((each.original_score, each.override_score) for each in judged)
    confusion = Counter((round(judge, _DIGITS), round(person, _DIGITS)) for judge, person in pairs)
    n = confusion.total()
    if not n:
        return None
    matching = sum(count for (judge, person), count in confusion.items() if judge == person)
    low, high = wilson(matching, n, confidence)
    return Agreement(n, matching, matching / n, low, high, kappa(confusion, confidence), dict(confusion))


def kappa(confusion: Mapping[tuple[float, float], int], confidence: float = 0.95) -> Kappa | None:
    """Cohen's kappa with its large-sample standard error; None where it is not defined.

    The interval is kappa ± z·SE within [-1, 1]. It has no width where all agree: then accuracy's tells more.
    Source: Cohen (1960), Educational and Psychological Measurement 20:37; the error: Fleiss, Cohen and Everitt (1969),
    Psychological Bulletin 72:323 (the error of the estimate, not that under the hypothesis of kappa = 0).
    """
    n = sum(confusion.values())
    judge, person = _margins(confusion, n)
    seen = sum(count for (one, other), count in confusion.items() if one == other) / n
    chance = sum(judge[score] * person[score] for score in judge)
    if chance >= 1:
        return None
    value = (seen - chance) / (1 - chance)
    inner = sum(
        count / n * _influence((one, other), judge, person, seen=seen, chance=chance) ** 2
        for (one, other), count in confusion.items()
    )
    variance = (inner - (seen * chance - 2 * chance + seen) ** 2) / (1 - chance) ** 4 / n
    error = sqrt(max(0.0, variance))
    half = normal_quantile((1 + confidence) / 2) * error
    return Kappa(value, error, max(-1.0, value - half), min(1.0, value + half))


def _margins(confusion: Mapping[tuple[float, float], int], n: int) -> tuple[Shares, Shares]:
    """The share of each score among the judge's, and among people's."""
    judge, person = Counter[float](), Counter[float]()
    for (one, other), count in confusion.items():
        judge[one] += count
        person[other] += count
    scores = judge.keys() | person.keys()
    return {score: judge[score] / n for score in scores}, {score: person[score] / n for score in scores}


def _influence(pair: tuple[float, float], judge: Shares, person: Shares, *, seen: float, chance: float) -> float:
    """What a cell of the table weighs in the variance, before it is squared."""
    one, other = pair
    common = (person[one] + judge[other]) * (1 - seen)
    return 1 - chance - common if one == other else common
