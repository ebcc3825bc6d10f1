"""Findings of relative gates about single rows: conclusions, exact texts, and rows that other rules report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.kernel.builders import ExampleSuite, info, run_of, scored

from scoregate.kernel.compare.adjustment import Adjustment
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import Correction, Row, RowLabel
from scoregate.kernel.compare.estimates import Estimate, NoEstimate, PairSummary
from scoregate.kernel.compare.lost_scores import CaseChanges, LostScores
from scoregate.kernel.gate.baseline_rules import (
    check_comparable,
    check_drops,
    check_lost_scores,
    check_regressions,
    check_small_rows,
    describe_change,
)
from scoregate.kernel.gate.families import Families, GateLimit, Shares, SmallRow, SmallRows
from scoregate.kernel.gate.finding import Finding, RunContext, SuiteContext
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.declarations.kernel import DROP, REGRESSION
from scoregate.kernel.types.exemptions import AcceptedRegression
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.policy import Criteria, EvaluatorCriteria, Limits, Policy

PASSED, FAILED, UNMEASURABLE = Conclusion.PASSED, Conclusion.FAILED, Conclusion.UNMEASURABLE
RUN = run_of(ExampleSuite(scored(*[1.0] * 20)))
ESTIMATE = Estimate(-0.08, 0.02, 0.01, 0.99, -0.12, -0.04, 0.05, smallest_p=0.0001, smallest_margin=0.2)
ROW = Row("demo", "e", RowLabel.NOISE, 0.5, 0.58, ESTIMATE, PairSummary(20, 20, 3, 7, able=20))
ENTRY = AcceptedRegression("*", "2026-12-31", "known", "ana", "*", at_most=0.1)
DROPS = Limits(max_drop={"*": 0.05}, origin={"max_drop.*": "x.toml"})
REGRESSIONS = Limits(fail_on_regression=True, origin={"fail_on_regression": "x.toml"})


@record
class Shift(Adjustment):
    """A shift of all scores that was subtracted."""

    cause = "provider drift"
    explanation = "with the drift of the provider, which explains it"
    why_not = ""
    delta: float | None = -0.03

    @property
    def found_shift(self) -> float | None:
        return self.delta

    def explains(self, alpha: float) -> bool:
        return alpha > 0

    def describe(self, label: str) -> str:
        return label


def make_context(*rows: Row, limits: Limits = DROPS, **fields: Any) -> SuiteContext:
    comparison = replace(compare(RUN, RUN), rows=rows)
    return SuiteContext(0, RUN.suites[0], limits, comparison, rows, **fields)


def describe(findings: Sequence[Finding]) -> list[tuple[Conclusion, str]]:
    return [(each.conclusion, each.value) for each in findings]


def change(delta: float, **fields: Any) -> Row:
    return replace(ROW, estimate=replace(ESTIMATE, delta=delta, low=delta - 0.04, high=delta + 0.04, **fields))


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (ROW, "−0.080 [−0.120, −0.040], p = 0.02"),
        (replace(ROW, correction=Correction(0.031)), "−0.080 [−0.120, −0.040], corrected p = 0.031"),
        (change(0.04, p=0.0001), "+0.040 [±0.000, +0.080], p = 0.0001"),
        (change(0.0004, p=0.00009), "±0.000 [−0.040, +0.040], p < 0.0001"),
        (replace(ROW, estimate=NoEstimate()), "±0.000, p = 1"),
    ],
)
def test_a_change_has_its_interval_and_its_p(row: Row, text: str) -> None:
    assert describe_change(row) == text


@pytest.mark.parametrize(
    ("row", "conclusion", "value"),
    [
        (ROW, PASSED, "−0.080 [−0.120, −0.040], p = 0.02: above the limit, within noise"),
        (replace(ROW, label=RowLabel.WORSE), FAILED, "−0.080 [−0.120, −0.040], p = 0.02"),
        (replace(change(-0.05), label=RowLabel.WORSE), PASSED, "−0.050 [−0.090, −0.010], p = 0.02"),
        (change(-0.05), PASSED, "−0.050 [−0.090, −0.010], p = 0.02"),
        (change(0.08), PASSED, "+0.080 [+0.040, +0.120], p = 0.02"),
        (
            change(-0.06, detectable=0.12),
            PASSED,
            "−0.060 [−0.100, −0.020], p = 0.02: above the limit, within noise; about 80 cases would decide",
        ),
        (
            change(-0.06, detectable=0.61),
            PASSED,
            "−0.060 [−0.100, −0.020], p = 0.02: above the limit, within noise; about 2,100 cases would decide",
        ),
        (change(-0.06, detectable=None), PASSED, "−0.060 [−0.100, −0.020], p = 0.02: above the limit, within noise"),
        (change(-0.06, detectable=0.06), PASSED, "−0.060 [−0.100, −0.020], p = 0.02: above the limit, within noise"),
        (
            replace(ROW, label=RowLabel.TOO_FEW, pairs=replace(ROW.pairs, clusters=6)),
            PASSED,
            "−0.080 [−0.120, −0.040], p = 0.02: 6 clusters are too few to decide alone",
        ),
        (
            replace(ROW, label=RowLabel.EXPLAINED, adjustment=Shift()),
            PASSED,
            "−0.080 [−0.120, −0.040], p = 0.02: −0.030 with the drift of the provider, which explains it: "
            "above the limit, within noise",
        ),
        (
            replace(ROW, label=RowLabel.WORSE, adjustment=Shift()),
            FAILED,
            "−0.080 [−0.120, −0.040], p = 0.02",
        ),
        (
            replace(ROW, label=RowLabel.WORSE, accepted=replace(ENTRY, at_most=0.08)),
            PASSED,
            "−0.080 [−0.120, −0.040], p = 0.02; a drop of up to 0.080 is accepted until 2026-12-31 by ana: known",
        ),
        (
            replace(ROW, label=RowLabel.WORSE, accepted=replace(ENTRY, at_most=0.07)),
            PASSED,
            "−0.080 [−0.120, −0.040], p = 0.02; a drop of up to 0.070 is accepted until 2026-12-31 by ana: known, "
            "and this one isn't certainly larger",
        ),
        (
            replace(ROW, label=RowLabel.WORSE, accepted=replace(ENTRY, at_most=0.01)),
            FAILED,
            "−0.080 [−0.120, −0.040], p = 0.02; more than the 0.010 that is accepted until 2026-12-31",
        ),
        (
            replace(ROW, label=RowLabel.UNMEASURABLE, unscaled=True, estimate=NoEstimate("no scale")),
            UNMEASURABLE,
            "no scale",
        ),
        (
            replace(ROW, label=RowLabel.UNMEASURABLE, pairs=PairSummary(dropped=1), estimate=NoEstimate("errors")),
            UNMEASURABLE,
            "errors; run the baseline again, or compare with another one (--baseline)",
        ),
    ],
)  # fmt: skip
def test_the_finding_of_a_drop_has_an_exact_text(row: Row, conclusion: Conclusion, value: str) -> None:
    (found,) = check_drops(make_context(row))
    assert (found.conclusion, found.value) == (conclusion, value)
    assert (found.limit, found.origin, found.bound) == ("a drop of at most 0.050", "x.toml", 0.05)
    assert (found.suite, found.evaluator, found.applied) == ("demo", "e", True)
    assert found.uncertain == ("above the limit" in value or "too few" in value)


@pytest.mark.parametrize(
    "row",
    [
        replace(ROW, estimate=NoEstimate("new")),
        replace(ROW, lost=LostScores(too_many=True)),
        replace(ROW, label=RowLabel.UNMEASURABLE, lost=LostScores(too_many=True), pairs=PairSummary(dropped=3)),
        replace(ROW, label=RowLabel.UNMEASURABLE, estimate=NoEstimate("lost"), pairs=PairSummary()),
    ],
)
def test_a_row_that_another_rule_reports_has_no_finding(row: Row) -> None:
    assert list(check_drops(make_context(row))) == []
    assert list(check_regressions(make_context(row, limits=REGRESSIONS))) == []


def test_only_rows_with_a_limit_are_checked() -> None:
    limits = Limits(max_drop={"e*": 0.05, "even": 0.2})
    rows = [replace(ROW, evaluator=name, label=RowLabel.WORSE) for name in ("e", "even", "other")]
    found = check_drops(make_context(*rows, limits=limits))
    assert [(each.evaluator, each.bound, each.conclusion) for each in found] == [
        ("e", 0.05, FAILED),
        ("even", 0.2, PASSED),
    ]
    context = make_context(*rows, limits=limits, uncalibrated={"e": "people disagree"})
    assert [each.evaluator for each in check_drops(context)] == ["even"]
    context = make_context(*rows, limits=REGRESSIONS, uncalibrated={"e": "people disagree"})
    assert [each.evaluator for each in check_regressions(context)] == ["even", "other"]


def test_kept_results_make_the_drop_of_a_suite_smaller() -> None:
    kept = replace(ROW, label=RowLabel.WORSE, cases=CaseChanges(kept=20), mean=0.54, base=0.58)
    assert [each.conclusion for each in check_drops(make_context(kept))] == [PASSED]
    assert [each.conclusion for each in check_drops(make_context(replace(kept, mean=0.5)))] == [FAILED]


@pytest.mark.parametrize(
    ("min_effect", "conclusion"), [(None, FAILED), (0.07, FAILED), (0.08, FAILED), (0.081, PASSED)]
)
def test_a_regression_is_at_least_of_the_smallest_effect(min_effect: float | None, conclusion: Conclusion) -> None:
    own = EvaluatorCriteria(min_effect=min_effect)
    criteria = Criteria(min_effect=0.0, evaluators={"e": own} if min_effect is not None else {})
    context = make_context(replace(ROW, label=RowLabel.WORSE), limits=REGRESSIONS, criteria=criteria)
    (found,) = check_regressions(context)
    assert (found.conclusion, found.limit, found.origin, found.bound) == (conclusion, "no regression", "x.toml", None)
    assert list(check_regressions(make_context(ROW, limits=DROPS))) == []


def test_an_unmeasured_row_is_reported_by_one_relative_gate() -> None:
    row = replace(ROW, label=RowLabel.UNMEASURABLE, unscaled=True, estimate=NoEstimate("no scale"))
    both = replace(REGRESSIONS, max_drop={"e": 0.1})
    for limits, count in ((REGRESSIONS, 1), (both, 0), (replace(both, max_drop={"other": 0.1}), 1)):
        assert len(list(check_regressions(make_context(row, limits=limits)))) == count
    assert len(list(check_regressions(make_context(replace(ROW, label=RowLabel.WORSE), limits=both)))) == 1


def test_a_number_without_a_scale_on_both_sides_is_no_regression() -> None:
    row = replace(ROW, label=RowLabel.UNMEASURABLE, unscaled=True, estimate=NoEstimate("no scale"))
    unscaled = run_of(ExampleSuite(scored(*[1.0] * 20)))
    unscaled.suites[0].columns.unscaled["e"] = set(range(20))
    for new, old, count in ((unscaled, unscaled, 0), (unscaled, RUN, 1), (RUN, unscaled, 1)):
        comparison = replace(compare(new, old), rows=(row,))
        context = SuiteContext(0, new.suites[0], REGRESSIONS, comparison, (row,))
        assert len(list(check_regressions(context))) == count


def few(n: int, *, able: int | None = None, clusters: int | None = None, worse: int = 0, delta: float = -0.2) -> Row:
    pairs = PairSummary(n, n if clusters is None else clusters, 0, worse, able=n if able is None else able)
    estimate = replace(ESTIMATE, delta=delta, low=delta - 0.04, high=delta + 0.04)
    return replace(ROW, label=RowLabel.TOO_FEW, estimate=estimate, pairs=pairs)


CHANGE = "−0.200 [−0.240, −0.160], p = 0.02"


@pytest.mark.parametrize(
    ("row", "conclusion", "value", "applied"),
    [
        (few(5), PASSED, "can't fail with 5 cases (6 are needed)", False),
        (few(1), PASSED, "can't fail with 1 case (6 are needed)", False),
        (few(6), PASSED, f"{CHANGE}: 6 pairs are too few to decide alone", True),
        (few(9, able=5), PASSED, "can't fail, as only 5 of 9 pairs can get worse (6 are needed)", False),
        (few(9, able=0), PASSED, "can't fail, as no score can get worse (6 are needed)", False),
        (few(9, able=4, clusters=4), PASSED, "can't fail with 4 clusters (6 are needed)", False),
        (few(9, able=3, clusters=4), PASSED, "can't fail, as only 3 of 4 clusters can get worse (6 are needed)", False),
        (few(3, worse=3), UNMEASURABLE, f"{CHANGE}: every case fell, and 3 pairs are too few to be certain", True),
        (few(2, worse=2), PASSED, "can't fail with 2 cases (6 are needed)", False),
        (few(3, worse=2), PASSED, "can't fail with 3 cases (6 are needed)", False),
        (few(3, worse=3, delta=-0.1), UNMEASURABLE, "every case fell", True),
        (few(3, worse=3, delta=-0.09), PASSED, "can't fail with 3 cases (6 are needed)", False),
        (few(6, worse=6), PASSED, f"{CHANGE}: 6 pairs are too few to decide alone", True),
    ],
)
def test_few_cases_never_pass_silently(row: Row, conclusion: Conclusion, value: str, applied: bool) -> None:
    context = make_context(row, families=Families(small=SmallRows((SmallRow(row),), 0.5)))
    (found,) = check_drops(context)
    assert (found.conclusion, found.applied) == (conclusion, applied)
    assert value in found.value


def test_rows_that_are_tested_together_say_so() -> None:
    row = few(4)
    others = (SmallRow(row), SmallRow(replace(row, suite="b")))
    context = make_context(row, families=Families(small=SmallRows(others, 0.25)))
    (found,) = check_drops(context)
    together = "; all 2 small rows together: corrected p = 0.25"
    assert found.value == f"{CHANGE}: 4 pairs are too few to decide alone{together}"
    context = make_context(row, families=Families(small=SmallRows(others)))
    assert next(check_drops(context)).value == f"{CHANGE}: 4 pairs are too few to decide alone"
    same_suite = (SmallRow(row), SmallRow(replace(row, evaluator="f")))
    context = make_context(row, families=Families(small=SmallRows(same_suite, 0.25)))
    assert next(check_drops(context)).value == "can't fail with 4 cases in all small suites together (6 are needed)"


def test_a_collapse_among_several_small_rows_needs_a_large_fall() -> None:
    for delta, count, conclusion in ((-0.5, 5, UNMEASURABLE), (-0.49, 5, PASSED), (-0.5, 4, PASSED)):
        row = few(count, worse=count, delta=delta)
        small = SmallRows((SmallRow(row), SmallRow(replace(row, suite="b"))), 0.5)
        (found,) = check_drops(make_context(row, families=Families(small=small)))
        assert found.conclusion is conclusion
    limited = few(3, worse=3, delta=-0.5)
    small = SmallRows((SmallRow(limited), SmallRow(replace(limited, evaluator="f"))), 0.5)
    (found,) = check_drops(make_context(limited, families=Families(small=small)))
    assert found.conclusion is UNMEASURABLE


def together(
    *rows: Row, q: float | None = 0.01, limits: Sequence[GateLimit] = (), alpha: float = 0.05
) -> list[Finding]:
    small = SmallRows(tuple(SmallRow(row, tuple(limits)) for row in rows), q)
    policy = Policy(criteria=Criteria(alpha=alpha))
    return list(check_small_rows(RunContext(compare(RUN, RUN), policy, families=Families(small=small))))


DROP_LIMIT, ANY_DROP = GateLimit(DROP, 0.2, "x.toml"), GateLimit(REGRESSION, 0.2, "y.toml")


def test_small_rows_that_fall_together_are_one_finding() -> None:
    rows = few(4, delta=-0.4), few(2, delta=-0.1), few(8, delta=0.3)
    (found,) = together(*rows, limits=[DROP_LIMIT])
    assert (found.conclusion, found.suite, found.origin, found.limit) == (
        *(FAILED, None),
        *("x.toml", "a drop of at most 0.200"),
    )
    assert found.value == (
        "2 rows with few pairs fell together: −0.300 on average of 6 pairs, corrected p = 0.01; "
        "none of them is certain alone"
    )
    (one,) = together(few(1, delta=-0.4), limits=[DROP_LIMIT])
    assert one.value.startswith("1 row with few pairs fell together: −0.400 on average of 1 pair, corrected")


@pytest.mark.parametrize(
    ("delta", "limits", "rules"),
    [
        (-0.2, [DROP_LIMIT], []),
        (-0.2, [ANY_DROP], ["regression"]),
        (-0.199, [ANY_DROP], []),
        (-0.21, [DROP_LIMIT, ANY_DROP], ["drop"]),
        (-0.2, [DROP_LIMIT, ANY_DROP], ["regression"]),
        (-0.21, [DROP_LIMIT, GateLimit(DROP, 0.25, "")], []),  # the largest limit of a rule counts
        (-0.21, [GateLimit(DROP, 0.25, ""), DROP_LIMIT], []),
        (-0.3, [], []),
    ],
)
def test_the_limits_of_small_rows_apply_to_their_mean(delta: float, limits: list[GateLimit], rules: list[str]) -> None:
    assert [each.rule for each in together(few(4, delta=delta), limits=limits)] == rules


def test_small_rows_fail_only_if_they_are_certain_together_and_not_alone() -> None:
    row = few(4, delta=-0.4)
    assert together(row, q=None, limits=[DROP_LIMIT]) == []
    assert together(row, q=0.051, limits=[DROP_LIMIT]) == []
    assert len(together(row, q=0.05, limits=[DROP_LIMIT])) == 1
    assert together(row, q=0.05, limits=[DROP_LIMIT], alpha=0.04) == []
    assert together(row, replace(row, label=RowLabel.WORSE), limits=[DROP_LIMIT]) == []
    assert together(few(4, delta=0.4), limits=[DROP_LIMIT]) == []


@pytest.mark.parametrize(
    ("label", "base", "is_lost"),
    [
        (RowLabel.NOT_COMPARABLE, 0.5, True),
        (RowLabel.REMOVED, 0.5, True),
        (RowLabel.NEW, 0.5, True),
        (RowLabel.NEW, None, False),
        (RowLabel.NOISE, 0.5, False),
        (RowLabel.WORSE, 0.5, False),
    ],
)
def test_a_row_that_a_gate_watches_can_be_compared(label: RowLabel, base: float | None, is_lost: bool) -> None:
    row = replace(ROW, label=label, base=base, estimate=NoEstimate("its prompt changed"))
    limited = Families(suites_with_limited_parts=frozenset({"demo"}))
    for context in (
        make_context(row, limits=DROPS),
        make_context(row, limits=REGRESSIONS),
        make_context(row, limits=Limits(), families=limited),
    ):
        found = describe(list(check_comparable(context)))
        assert found == ([(FAILED, f"{label}: its prompt changed")] if is_lost else [])
    unwatched = make_context(row, limits=Limits(max_drop={"other": 0.1}, fail_on_regression=False))
    assert list(check_comparable(unwatched)) == []


def test_lost_scores_are_reported_if_a_gate_depends_on_them() -> None:
    row = replace(ROW, lost=LostScores(too_many=True), estimate=NoEstimate("60 of 200 cases lost their score"))
    for limits, is_reported in (
        (Limits(), False),
        (DROPS, True),
        (REGRESSIONS, True),
        (Limits(min_score={"e": 0.5}), True),
        (Limits(min_score={"other": 0.5}), False),
        (Limits(min_pass_rate=0.5), True),
    ):
        found = list(check_lost_scores(make_context(row, limits=limits)))
        assert describe(found) == ([(UNMEASURABLE, "60 of 200 cases lost their score")] if is_reported else [])
        assert [each.limit for each in found] == ["≤ 5.0% lost"] * is_reported
    free = run_of(ExampleSuite(scored(*[1.0] * 20), threshold=None))
    for new, old, count in ((free, free, 0), (free, RUN, 1), (RUN, free, 1)):
        context = SuiteContext(0, new.suites[0], Limits(min_pass_rate=0.5), compare(new, old), (row,))
        assert len(list(check_lost_scores(context))) == count
    alone = SuiteContext(0, RUN.suites[0], Limits(min_pass_rate=0.5), compare(RUN, None), (row,))
    assert len(list(check_lost_scores(alone))) == 1


def test_an_evaluator_without_a_score_has_a_reason_or_a_finding() -> None:
    row = replace(ROW, label=RowLabel.UNMEASURABLE, base=None, estimate=NoEstimate("no case has a score"))
    silent = run_of(ExampleSuite({"a": {"e": None, "f": 1.0}}, evaluators=[info("e"), info("f")]))
    (suite,) = silent.suites

    def count(row: Row = row, **fields: Any) -> int:
        changed = replace(suite, **fields)
        return len(list(check_lost_scores(SuiteContext(0, changed, Limits(), compare(silent, None), (row,)))))

    assert count() == 1
    assert count(replace(row, label=RowLabel.NOISE)) == 0
    assert count(replace(row, evaluator="gone")) == 0
    assert count(replace(row, evaluator="f")) == 0  # it has a score
    assert count(complete=False) == 0
    assert count(evaluators={"e": replace(info("e"), battles=True), "f": info("f")}) == 0


def test_a_level_needs_a_number_of_cases() -> None:
    """Chance lets n of n cases fall with a probability of 2^-n."""
    shares = Shares(0.8, 0.2, 0.05)
    assert (shares.fewest_cases, shares.fewest_pairs, Shares().fewest_cases) == (6, 8, 6)
    assert Shares(alpha=2 / 32).fewest_cases == 5
