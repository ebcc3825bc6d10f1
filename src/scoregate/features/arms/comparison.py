"""The effect of a skill, or another file for agents: its arm compared with the arm without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import fsum

from scoregate.kernel.compare.comparison_rows import Row, score_rows
from scoregate.kernel.compare.pairing import Side, case_clusters, pair_sides
from scoregate.kernel.compare.row_labels import label_rows, mark_lost_scores
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.arms import EXPECTATIONS, NOT_TRIGGERED, TRIGGERED
from scoregate.kernel.types.runs.case_columns import known_values
from scoregate.kernel.types.runs.evidence import TrialRole, Use
from scoregate.kernel.types.runs.policy import Criteria
from scoregate.kernel.types.runs.run import SuiteResult


@record
class TriggerRate:
    """In how many of the trials a skill was loaded."""

    triggered: int
    trials: int


@record
class ArmComparison:
    """How a skill, or another file for agents, changes the results.

    Attributes:
        suite: the label of the suite with it.
        effect: its scores compared with those without it; None if there is no such arm.
        extra_tokens: how many tokens a case uses more than without it; None if they are unknown.
        graded_by_model: whether these are also the tokens of a model that grades.
        wanted: the trials in which it should be loaded; None if that isn't known.
        unwanted: the trials in which it should not be loaded; None if there are none.
        carried: whether the arm without it has results of the base's run.
        repeated: whether cases have several trials.
    """

    suite: str
    effect: Row | None
    extra_tokens: float | None = None
    graded_by_model: bool = False
    wanted: TriggerRate | None = None
    unwanted: TriggerRate | None = None
    carried: bool = False
    repeated: bool = False


def compare_arms(
    suites: Sequence[SuiteResult], criteria_of: Callable[[SuiteResult], Criteria]
) -> Iterator[ArmComparison]:
    """Compare each suite that has an arm `without` with it.

    Args:
        suites: the suites of a run.
        criteria_of: returns the criteria of a suite.
    """
    pairs = list(_pair_arms(suites))
    if not pairs:
        return
    effects = [_measure_effect(suite, other, criteria_of(suite)) for suite, other in pairs]
    known = [each for each in effects if each is not None]
    labelled = iter(label_rows(known, criteria_of(pairs[0][0])))
    for (suite, other), effect in zip(pairs, effects, strict=True):
        yield ArmComparison(
            suite.label,
            None if effect is None else next(labelled),
            extra_tokens=_compare_tokens(suite, other),
            wanted=_count_triggers(suite, TRIGGERED),
            unwanted=_count_triggers(suite, NOT_TRIGGERED, inverted=True),
            carried=not other.evidence.counts(Use.SPENT),
            repeated=len(set(suite.columns.hashes)) < len(suite.columns.hashes),
            graded_by_model=any(each.fingerprint and each.fingerprint.model for each in suite.evaluators.values()),
        )


def _pair_arms(suites: Sequence[SuiteResult]) -> Iterator[tuple[SuiteResult, SuiteResult]]:
    without = {_key(suite): suite for suite in suites if suite.role is TrialRole.WITHOUT}
    for suite in suites:
        if not suite.params and (other := without.get(_key(suite))) is not None:
            yield suite, other


def _key(suite: SuiteResult) -> tuple[str, str]:
    return suite.id, suite.origin.file if suite.origin else ""


def _measure_effect(suite: SuiteResult, other: SuiteResult, criteria: Criteria) -> Row | None:
    """The row of an arm compared with the arm without it, as if that were the baseline; None if nothing is graded."""
    if not any(each.columns.scores.get(EXPECTATIONS) or each.columns.errored_rows() for each in (suite, other)):
        return None
    rows = mark_lost_scores(score_rows(suite, [other], criteria), criteria.alpha)
    return next((row for row in rows if row.evaluator == EXPECTATIONS), None)


def _compare_tokens(suite: SuiteResult, other: SuiteResult) -> float | None:
    sides = [_token_side(each) for each in (suite, other)]
    pairs = pair_sides(sides[0], sides[1], case_clusters(suite.columns))
    return fsum(pairs.sums) / pairs.n if pairs.n else None


def _token_side(suite: SuiteResult) -> Side:
    columns = suite.columns
    return Side.from_reader(lambda: zip(columns.hashes, columns.repeats, columns.tokens, strict=False))


def _count_triggers(suite: SuiteResult, evaluator: str, *, inverted: bool = False) -> TriggerRate | None:
    scores = known_values(suite.columns.scores.get(evaluator, ()))
    hits = sum(score >= 1 for score in scores)
    return TriggerRate(len(scores) - hits if inverted else hits, len(scores)) if scores else None
