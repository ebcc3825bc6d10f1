"""Whether people agree with a judge often enough: checked after fixed numbers of reviews, by exact lower bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import fsum, hypot

from scoregate.kernel.compare.statistics.intervals import clopper_pearson_low
from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.records import record

LEVEL = 0.05
"""The probability that any check of a judge calls it calibrated although it isn't."""
PASSING = 0.5
"""A score without a threshold passes from here on."""
_GUESSING = 0.5
_DIGITS, _CLOSE = 9, 1e-9


@record
class Review:
    """A judge's score and a person's score of one output, both in [0, 1].

    Attributes:
        original_score: the judge's score.
        override_score: the person's score; equal to the judge's if the person agrees.
        threshold: the threshold of the case; None if it has none or is unknown.
        failing_share: the share of the judge's scores in the run that fail; None if the sample ignored the scores.
    """

    original_score: float
    override_score: float
    threshold: Threshold | None = None
    failing_share: float | None = None

    @property
    def scores(self) -> tuple[float, float]:
        """The judge's score and the person's, to nine decimals."""
        return round(self.original_score, _DIGITS), round(self.override_score, _DIGITS)

    @property
    def agrees(self) -> bool:
        """Whether both scores are equal."""
        judge, person = self.scores
        return judge == person

    @property
    def judge_fails(self) -> bool:
        """Whether the judge's score fails."""
        return is_failing(self.original_score, self.threshold)

    @property
    def person_fails(self) -> bool:
        """Whether the person's score fails."""
        return is_failing(self.override_score, self.threshold)


def is_failing(score: float, threshold: Threshold | None) -> bool:
    """Whether a score misses the threshold; without a threshold, whether it is below 0.5."""
    passes = None if threshold is None else threshold.holds(score)
    return score < PASSING if passes is None else not passes


def weigh_reviews(reviews: Sequence[Review]) -> tuple[float, float]:
    """How much a review of a failing score of the judge counts, and one of a passing score; the mean is 1.

    A sample has more of the rarer verdict than the run. The weights give both verdicts the run's shares back. A review
    without a share was drawn regardless of the score, so the share of its run is estimated by its own verdict.
    """
    n, verdicts = len(reviews), [each.judge_fails for each in reviews]
    failing = sum(verdicts)
    known = [each.failing_share for each in reviews]
    if not 0 < failing < n or all(each is None for each in known):
        return 1.0, 1.0
    share = fsum(fails if each is None else each for fails, each in zip(verdicts, known, strict=True)) / n
    return share * n / failing, (1 - share) * n / (n - failing)


@record
class MatchRate:
    """How often a judge gives the same score as people, over the outputs that people fail, or over those they pass.

    Attributes:
        n: the number of reviews.
        matching: the number of them with equal scores.
        rate: the share of equal scores in the run, in [0, 1].
        low: its lower bound.
    """

    n: int
    matching: int
    rate: float
    low: float


@record
class JudgeCheck:
    """What a check found.

    Attributes:
        n: the number of reviews that it used: the first ones.
        next: the number of reviews at the next check.
        failures: the outputs that people fail; None without one.
        passes: the outputs that people pass; None without one.
    """

    n: int
    next: int
    failures: MatchRate | None
    passes: MatchRate | None

    @property
    def balanced(self) -> tuple[float, float]:
        """The balanced accuracy, which is the mean of both rates, and its lower bound; 0 if a rate is unknown.

        The bound combines those of the rates: the distances from the estimates are independent, so their squares add.

        Source: Zou and Donner (2008), Statistics in Medicine 27:1693 (MOVER).
        """
        if self.failures is None or self.passes is None:
            return 0.0, 0.0
        one, other = self.failures, self.passes
        rate = (one.rate + other.rate) / 2
        return rate, max(0.0, rate - hypot(one.rate - one.low, other.rate - other.low) / 2)

    def is_above(self, least: float) -> bool:
        """Whether the lower bounds of balanced accuracy and of found failures are above a minimum.

        A judge that guesses, or always says the same, has a balanced accuracy of at most 0.5 and a kappa of 0. So the
        bound of the balanced accuracy must be above 0.5 in any case.
        """
        if self.failures is None:
            return False
        return self.failures.low > least and self.balanced[1] > max(least, _GUESSING)

    def is_below(self, least: float) -> bool:
        """Whether the estimates themselves, not only their bounds, are below a minimum; an unknown rate may be 1."""
        finds, passes = (1.0 if each is None else each.rate for each in (self.failures, self.passes))
        return finds < least or (finds + passes) / 2 < max(least, _GUESSING)


class AgreementLevel(StrEnum):
    """Whether a judge agrees with people as often as required; `too_few` if the reviews don't decide it."""

    HOLDS = "holds"
    BELOW = "below"
    TOO_FEW = "too_few"


def check_judge(reviews: Sequence[Review], *, fewest: int) -> JudgeCheck | None:
    """Check how often a judge is right at the last check that the reviews reach.

    The checks are after `fewest` reviews, twice as many, four times as many, and so on; later reviews wait for the next
    check. The bounds of the first check have the level 0.025, and those of each further one half the level of the one
    before. So the levels add up to 0.05 at most, however long people go on: a judge that isn't good enough is called
    calibrated at any check with at most this probability. `benchmarks/calibration_judges.py` simulates it.

    Args:
        reviews: the reviews of a random sample of the judge's scores, the oldest first.
        fewest: the number of reviews at the first check, at least 1.

    Returns:
        The check; None with fewer reviews.
    """
    n, level = max(1, fewest), LEVEL / 2
    if len(reviews) < n:
        return None
    while 2 * n <= len(reviews):
        n, level = 2 * n, level / 2
    table = _tabulate(reviews[:n])
    return JudgeCheck(n, 2 * n, *(_measure_matches(table, level, failing=failing) for failing in (True, False)))


def conclude(check: JudgeCheck | None, least: float | None) -> AgreementLevel | None:
    """Compare a check with a minimum, in [0, 1]; None if there is a check and no minimum."""
    if check is None:
        return AgreementLevel.TOO_FEW
    if least is None:
        return None
    if check.is_above(least):
        return AgreementLevel.HOLDS
    return AgreementLevel.BELOW if check.is_below(least) else AgreementLevel.TOO_FEW


def describe_check(check: JudgeCheck) -> str:
    """Describe a check that doesn't decide, or that a judge failed.

    Like `in 50 reviews it finds 21 of 25 failures, at least 63.9%; balanced accuracy 88.0%, at least 76.2%; next check
    at 100`.
    """
    if check.failures is None or check.passes is None:
        verb, known = ("fail", check.passes) if check.failures is None else ("pass", check.failures)
        text = (
            f"people {verb} none of {check.n:,} outputs and agree with the judge on {known.matching if known else 0:,}"
        )
        return f"{text}; review a run with outputs that should {verb}"
    rate, low = check.balanced
    found = f"finds {check.failures.matching:,} of {check.failures.n:,} failures, at least {check.failures.low:.1%}"
    accuracy = f"balanced accuracy {rate:.1%}, at least {low:.1%}"
    return f"in {check.n:,} reviews it {found}; {accuracy}; next check at {check.next:,}"


@record
class _Table:
    """Reviews by the verdicts of both, and the weights of the judge's failing and passing scores.

    Attributes:
        same: the reviews with equal verdicts, by whether both fail.
        matching: those of them with equal scores.
        missed: the reviews with different verdicts, by whether the person fails.
        weights: the weight of a review, by whether the judge fails.
        graded: whether there are several failing scores, and several passing ones.
    """

    same: Mapping[bool, int]
    matching: Mapping[bool, int]
    missed: Mapping[bool, int]
    weights: Mapping[bool, float]
    graded: Mapping[bool, bool]


def _tabulate(reviews: Sequence[Review]) -> _Table:
    same, matching, missed = Counter[bool](), Counter[bool](), Counter[bool]()
    scores: dict[bool, set[float]] = {True: set(), False: set()}
    for each in reviews:
        (judge, person), judge_fails, person_fails = each.scores, each.judge_fails, each.person_fails
        scores[judge_fails].add(judge)
        scores[person_fails].add(person)
        if judge_fails is person_fails:
            same[person_fails] += 1
            matching[person_fails] += judge == person
        else:
            missed[person_fails] += 1
    failing, passing = weigh_reviews(reviews)
    graded = {fails: len(known) > 1 for fails, known in scores.items()}
    return _Table(same, matching, missed, {True: failing, False: passing}, graded)


def _measure_matches(table: _Table, level: float, *, failing: bool) -> MatchRate | None:
    """The share of equal scores over the outputs that people fail (or pass), with a lower bound of this level.

    People's failing scores that the judge passes come from the judge's passing scores, of which a sample may have too
    few. So the share of equal verdicts is bounded with the weights of both verdicts, and the share of equal scores,
    given equal verdicts, for itself; each has half of the level. With one failing score, equal verdicts are equal
    scores.
    """
    same, matching, missed = table.same[failing], table.matching[failing], table.missed[failing]
    if not same + missed:
        return None
    weight, other = table.weights[failing], table.weights[not failing]
    total = weight * same + other * missed
    rate = weight * matching / total if total else 0.0
    if abs(weight - other) < _CLOSE:
        low = clopper_pearson_low(matching, same + missed, level)
    elif not table.graded[failing]:
        low = _bound_weighted(same, missed, weight, other, level=level)
    elif not same:
        low = 0.0
    else:
        low = _bound_weighted(same, missed, weight, other, level=level / 2)
        low *= clopper_pearson_low(matching, same, level / 2)
    return MatchRate(same + missed, matching, rate, low)


def _bound_weighted(hits: int, misses: int, weight: float, other: float, *, level: float) -> float:
    """The lower bound of the share of hits, which weigh `weight` each, while misses weigh `other`.

    Hits and misses count as independent Poisson numbers. Then the hits, given their sum, are binomial, and the odds of
    a hit in the run are those in the sample times weight / other. With equal weights it is Clopper and Pearson's bound.

    Source: Przyborowski and Wilenski (1940), Biometrika 31:313 (ratio of two Poisson rates).
    """
    share = clopper_pearson_low(hits, hits + misses, level)
    total = weight * share + other * (1 - share)
    return weight * share / total if total else 0.0
