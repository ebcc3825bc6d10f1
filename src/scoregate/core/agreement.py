"""How well a judge agrees with people, from pairs of scores of the same outputs."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from math import sqrt
from typing import Protocol, TypeAlias

from scoregate.core.distributions import normal_quantile
from scoregate.core.events import EvaluatorInfo, Fingerprint
from scoregate.core.intervals import wilson

FEWEST_FOR_INTERVAL = 50
_MOST_SCORES_FOR_INTERVAL = 100
_DIGITS = 9
Shares: TypeAlias = Mapping[float, float]
Confusion: TypeAlias = Mapping[tuple[float, float], float]


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
    """Cohen's kappa: 1 is full agreement, 0 what chance would give.

    Args:
        value: the estimate, in [-1, 1]. error: its large-sample standard error, 0 where all agree.
        low: where its interval begins; None on fewer than 50 judgements. high: where it ends.
    """

    value: float
    error: float
    low: float | None
    high: float | None


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


def measure_agreement(judged: Iterable[Corrected], confidence: float = 0.95) -> Agreement | None:
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
    return Agreement(n, matching, matching / n, low, high, cohens_kappa(confusion, confidence), dict(confusion))


def cohens_kappa(confusion: Mapping[tuple[float, float], int], confidence: float = 0.95) -> Kappa | None:
    """Cohen's kappa with its standard error and interval; None where it is not defined.

    The interval is kappa ± z·SE of a smoothed table, within [-1, 1], widened to hold kappa itself where it does not.
    The table gets one agreement and one disagreement more, spread evenly over the scores that were given, as Agresti
    and Coull add to a proportion. Without them the interval covers .20 to .95 on 50 judgements, and has no width where
    all agree; with them at least .92 in 357 of 360 conditions, never under .91 (`benchmarks/calibration_kappa.py`).
    Fewer than 50 judgements have no interval.

    Source: Cohen (1960), Educational and Psychological Measurement 20:37; the error: Fleiss, Cohen and Everitt (1969),
    Psychological Bulletin 72:323 (the error of the estimate, not that under the hypothesis of kappa = 0); the
    smoothing: Agresti and Coull (1998), The American Statistician 52:119, carried over to tables.
    """
    estimate = _estimate_kappa(confusion)
    if estimate is None:
        return None
    value, error = estimate
    low, high = _kappa_interval(confusion, value, confidence)
    return Kappa(value, error, low, high)


def _kappa_interval(
    confusion: Mapping[tuple[float, float], int], value: float, confidence: float
) -> tuple[float, float] | tuple[None, None]:
    """Where the interval of kappa begins and ends; twice None where there is too little to say it."""
    scores = {score for pair in confusion for score in pair}
    if sum(confusion.values()) < FEWEST_FOR_INTERVAL or len(scores) > _MOST_SCORES_FOR_INTERVAL:
        return None, None
    estimate = _estimate_kappa(_smooth(confusion, scores))
    assert estimate is not None  # every score has a share on both sides
    center, error = estimate
    half = normal_quantile((1 + confidence) / 2) * error
    return max(-1.0, min(value, center - half)), min(1.0, max(value, center + half))


def _smooth(confusion: Confusion, scores: Collection[float]) -> Confusion:
    """The table with one agreement and one disagreement more, in equal parts in each of their cells."""
    alike, apart = 1 / len(scores), 1 / (len(scores) * (len(scores) - 1))
    return {
        (one, other): confusion.get((one, other), 0) + (alike if one == other else apart)
        for one in scores
        for other in scores
    }


def _estimate_kappa(confusion: Confusion) -> tuple[float, float] | None:
    """Kappa and its standard error; None where everything got one score from both."""
    n = sum(confusion.values())
    judge, person = _margins(confusion, n)
    seen = sum(count for (one, other), count in confusion.items() if one == other) / n
    chance = sum(judge[score] * person[score] for score in judge)
    if chance >= 1:
        return None
    inner = sum(
        count / n * _cell_influence((one, other), judge, person, seen=seen, chance=chance) ** 2
        for (one, other), count in confusion.items()
    )
    variance = (inner - (seen * chance - 2 * chance + seen) ** 2) / (1 - chance) ** 4 / n
    return (seen - chance) / (1 - chance), sqrt(max(0.0, variance))


def _margins(confusion: Confusion, n: float) -> tuple[Shares, Shares]:
    """The share of each score among the judge's, and among people's."""
    judge, person = defaultdict[float, float](float), defaultdict[float, float](float)
    for (one, other), count in confusion.items():
        judge[one] += count
        person[other] += count
    scores = judge.keys() | person.keys()
    return {score: judge[score] / n for score in scores}, {score: person[score] / n for score in scores}


def _cell_influence(pair: tuple[float, float], judge: Shares, person: Shares, *, seen: float, chance: float) -> float:
    """What a cell of the table weighs in the variance, before it is squared."""
    one, other = pair
    common = (person[one] + judge[other]) * (1 - seen)
    return 1 - chance - common if one == other else common


# By evaluator and by what `digest_fingerprint` says of the judge: its agreement with people on sampled scores.
Calibrations: TypeAlias = Mapping[tuple[str, str], Agreement]


def is_judge(info: EvaluatorInfo) -> bool:
    """Whether an evaluator asks a model; a function needs no calibration."""
    return info.fingerprint is not None and info.fingerprint.model is not None


def digest_fingerprint(fingerprint: Fingerprint | None) -> str:
    """16 hexadecimal digits that stay the same as long as a judge gives the same scores; empty where nothing is known.

    The version that people gave counts only where neither code nor prompt is known, as in the comparison.
    """
    if fingerprint is None:
        return ""
    known = fingerprint.source is not None or fingerprint.prompt is not None
    parts = (fingerprint.source, fingerprint.prompt, fingerprint.parameters, fingerprint.model)
    text = json.dumps([*parts, None if known else fingerprint.version])
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def explain_uncalibrated(info: EvaluatorInfo, known: Calibrations, *, least: float, fewest: int) -> str:
    """Why the scores of a judge may not fail a run; empty where they may, and of what is no judge.

    Args:
        known: agreement with people, of all judges.
        least: the lower bound of the agreement has to be above it. fewest: so many reviews it takes.
    """
    if not is_judge(info):
        return ""
    found = known.get((info.id, digest_fingerprint(info.fingerprint)))
    count = 0 if found is None else found.n
    if found is None or count < fewest:
        return f"judge not calibrated ({count:,} of {fewest:,} reviews)"
    if found.low <= least:
        return f"judge not calibrated ({describe_reviews(found)})"
    return ""


def describe_reviews(found: Agreement) -> str:
    """`agrees with people in 41 of 50 reviews, at least 69.2%`, the second the lower bound of its interval."""
    return f"agrees with people in {found.matching:,} of {found.n:,} reviews, at least {found.low:.1%}"
