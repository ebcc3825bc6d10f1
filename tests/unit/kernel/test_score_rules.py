"""Scales, thresholds and ignored evaluators of the settings, applied to events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo
from scoregate.kernel.types.events import CaseFinished, CaseStarted, Errored, Event, Scored, SuiteFinished, SuiteStarted
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.runs.policy import Criteria, EvaluatorCriteria, Limits, Policy, policy_differences
from scoregate.kernel.types.runs.reducer import RunReducer
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd
from scoregate.kernel.types.runs.score_rules import ScoreRules

WORDS = EvaluatorCriteria(scale=(0, 500), threshold=Threshold(gte=100))


def events(*scores: Scored, evaluators: tuple[EvaluatorInfo, ...] = ()) -> Iterator[Event]:
    yield SuiteStarted(suite="s", evaluators=evaluators)
    for case in dict.fromkeys(score.case for score in scores):
        yield CaseStarted(suite="s", case=case, name=case)
        yield from (score for score in scores if score.case == case)
        yield CaseFinished(suite="s", case=case, unscored=("nothing",))
    yield SuiteFinished(suite="s")


def make_score(value: float, evaluator: str = "words", case: str = "a", **fields: Any) -> Scored:
    return Scored(suite="s", case=case, evaluator=evaluator, score=value, **fields)


def reduce_events(
    *scores: Scored, rules: dict[str, EvaluatorCriteria] | None = None, evaluators: tuple[EvaluatorInfo, ...] = ()
) -> tuple[Run, list[CaseResult]]:
    reducer = RunReducer(rules=ScoreRules(Criteria(evaluators=rules or {})))
    every = (reducer.apply("log", None, event) for event in events(*scores, evaluators=evaluators))
    cases = [case for case in every if case is not None]
    return Run("r", 0, RunEnd(0, complete=True), RunCode("1"), suites=reducer.results()), cases


def test_a_scale_maps_scores_and_the_thresholds_of_settings_and_suite() -> None:
    run, (case,) = reduce_events(
        make_score(350, threshold=Threshold(gte=400)), rules={"w*": EvaluatorCriteria(scale=(0, 500))}
    )
    evaluation = case.evaluations["words"]
    assert (evaluation.score, evaluation.threshold) == (0.7, Threshold(gte=0.8))
    assert evaluation.metadata == {"value": 350, "scale": [0, 500]}
    assert run.suites[0].evaluators["words"].scale == (0, 500)
    _, (case,) = reduce_events(make_score(350, threshold=Threshold(gte=400)), rules={"words": WORDS})
    assert (case.evaluations["words"].threshold, case.status) == (Threshold(gte=0.2), Status.PASSED)


def test_a_setting_overrides_the_scale_of_a_suite_or_file() -> None:
    declared = (EvaluatorInfo("words", scale=(0, 1000)),)
    _, (case,) = reduce_events(make_score(500), evaluators=declared)
    assert case.evaluations["words"].score == 0.5
    run, (case,) = reduce_events(make_score(500), evaluators=declared, rules={"words": WORDS})
    assert case.evaluations["words"].score == 1
    assert run.suites[0].evaluators["words"].scale == (0, 500)
    stated = make_score(0.75, metadata={"value": 4, "scale": [1, 5]}, threshold=Threshold(gte=0.5))
    _, (case,) = reduce_events(stated, rules={"words": EvaluatorCriteria(scale=(0, 5))})
    assert (case.evaluations["words"].score, case.evaluations["words"].threshold) == (0.8, Threshold(gte=0.6))
    assert case.evaluations["words"].metadata == {"value": 4, "scale": [0, 5]}
    _, (case,) = reduce_events(stated, rules={"words": EvaluatorCriteria(threshold=Threshold(gte=5))})
    assert case.evaluations["words"].threshold == Threshold(gte=1), "it is on the stated scale"


def test_a_score_outside_its_scale_is_an_error_of_its_case() -> None:
    for stated in (None, {"value": 501, "scale": [0, 500]}):
        number = 501 / 500 if stated else 501
        rules = None if stated else {"words": WORDS}
        _, (case,) = reduce_events(make_score(number, metadata=stated), rules=rules)
        assert case.status is Status.ERRORED
        assert case.errors[0].error.message == "its score 501 is outside its scale [0, 500]"
    for wrong in (make_score(float("nan")), make_score(2, threshold=Threshold(gte=1))):
        _, (case,) = reduce_events(wrong)
        assert case.status is Status.ERRORED, "the verdict of the case is lost"


def test_without_a_scale_only_the_rows_of_the_evaluator_are_unmeasurable() -> None:
    scores = [make_score(value, case=case) for case, value in (("a", 350), ("b", 0.5))]
    good = [make_score(1, "exact", case, threshold=Threshold(gte=1)) for case in "ab"]
    run, cases = reduce_events(*scores, *good)
    assert [case.status for case in cases] == [Status.PASSED, Status.PASSED]
    rows = {row.evaluator: row for row in compare(run, None).rows}
    assert rows["words"].label is RowLabel.UNMEASURABLE
    assert rows["words"].reason.startswith("1 score is outside [0, 1]: set its `scale`")
    assert rows["words"].mean is None
    assert evaluate_gates(compare(run, None), Policy()).conclusion is Conclusion.PASSED
    assert evaluate_gates(compare(run, run), Policy()).conclusion is Conclusion.PASSED


WATCHED = (Limits(fail_on_regression=True), Limits(max_drop={"words": 0.02}))


def make_run(*values: float) -> Run:
    """A run with a case for each score, and another evaluator that passes."""
    good = [make_score(1, "exact", f"c{index}", threshold=Threshold(gte=1)) for index in range(len(values))]
    run, _ = reduce_events(*(make_score(value, case=f"c{index}") for index, value in enumerate(values)), *good)
    return run


def test_a_rounding_error_is_in_the_scale() -> None:
    base, head = make_run(1 + 2e-16, -1e-12, *[0.9] * 38), make_run(1 + 2e-16, -1e-12, *[0.1] * 38)
    assert not head.suites[0].columns.unscaled
    for limits in WATCHED:
        assert evaluate_gates(compare(head, base), Policy(limits)).conclusion is Conclusion.FAILED
    _, (case,) = reduce_events(make_score(500.0000000001), rules={"words": EvaluatorCriteria(scale=(0, 500))})
    assert case.evaluations["words"].score == 1


def test_few_scores_outside_are_errors_of_their_cases() -> None:
    base, head = make_run(1.5, *[0.9] * 39), make_run(1.5, *[0.1] * 39)
    for new, old in ((head, base), (head, make_run(*[0.9] * 40)), (make_run(*[0.1] * 40), base)):
        comparison = compare(new, old)
        (row,) = (each for each in comparison.rows if each.evaluator == "words")
        assert (row.label, row.pairs.n, row.pairs.dropped) == (RowLabel.WORSE, 39, 1)
        for limits in WATCHED:
            assert evaluate_gates(comparison, Policy(limits)).conclusion is Conclusion.FAILED
    assert len(compare(head, base).run.suites[0].columns.errored_rows()) == 1
    strict = compare(head, base, criteria_of=lambda _: Criteria(max_dropped=0))
    assert {row.label for row in strict.rows if row.evaluator == "words"} == {RowLabel.UNMEASURABLE}


def test_a_gate_that_depends_on_an_evaluator_without_a_scale_is_unmeasurable() -> None:
    counts, shares = make_run(*[350] * 20), make_run(*[0.5] * 20)
    for new, old in ((counts, shares), (shares, counts)):
        (row,) = (each for each in compare(new, old).rows if each.evaluator == "words")
        assert row.label is RowLabel.UNMEASURABLE
        for limits in WATCHED:
            verdict = evaluate_gates(compare(new, old), Policy(limits))
            assert verdict.conclusion is Conclusion.UNMEASURABLE
            assert any("outside [0, 1]" in each.value for each in verdict.failed)
    by_regression, by_drop = (evaluate_gates(compare(counts, counts), Policy(limits)).conclusion for limits in WATCHED)
    assert by_regression is Conclusion.PASSED, "it was never measured, and no limit names it"
    assert by_drop is Conclusion.UNMEASURABLE
    assert evaluate_gates(compare(counts, counts), Policy()).conclusion is Conclusion.PASSED


def test_a_threshold_outside_the_scale_is_never_green() -> None:
    stated = {"value": 2, "scale": [1, 5]}
    for threshold, problem in (
        (Threshold(gte=0.8), "has the bound 0.8, which is outside the scale [1, 5]"),
        (Threshold(gte=1), "(≥ 1) holds for every score on the scale [1, 5]"),
        (Threshold(lte=5, gte=1), "(≤ 5 and ≥ 1) holds for every score on the scale [1, 5]"),
    ):
        stars = make_score(0.25, "stars", metadata=stated)
        others = [make_score(1, "exact", f"c{index}", threshold=Threshold(gte=1)) for index in range(60)]
        run, _ = reduce_events(stars, *others, rules={"stars": EvaluatorCriteria(threshold=threshold)})
        verdict = evaluate_gates(compare(run, None), Policy())
        assert verdict.conclusion is Conclusion.UNMEASURABLE, "though 1 of 60 cases may have an error"
        assert problem in verdict.failed[0].value
    _, (case,) = reduce_events(stars, rules={"stars": EvaluatorCriteria(threshold=Threshold(gte=4))})
    assert case.status is Status.FAILED


def test_a_failure_outside_its_scale_is_no_error() -> None:
    others = [make_score(1, "exact", f"c{index}", threshold=Threshold(gte=1)) for index in range(60)]
    failed = make_score(0.2, threshold=Threshold(gte=0.5))
    run, _ = reduce_events(failed, *others, rules={"*": EvaluatorCriteria(scale=(1, 5)), "exact": EvaluatorCriteria()})
    assert evaluate_gates(compare(run, None), Policy()).conclusion is Conclusion.UNMEASURABLE


@pytest.mark.parametrize(
    "setting",
    [{"scale": (1, 5)}, {"ignore": True}, {"threshold": Threshold(lte=0.5)}, {"scale": (1, 5), "ignore": True}],
)
def test_a_wildcard_changes_no_verdict(setting: dict[str, Any]) -> None:
    declared = (EvaluatorInfo("right", boolean=True),)
    verdicts = [make_score(index != 7, "right", f"c{index}", threshold=Threshold(gte=1)) for index in range(40)]
    run, cases = reduce_events(*verdicts, evaluators=declared, rules={"*": EvaluatorCriteria(**setting)})
    assert [case.status for case in cases].count(Status.FAILED) == 1
    assert run.suites[0].evaluators["right"].scale is None
    assert evaluate_gates(compare(run, None), Policy()).conclusion is Conclusion.FAILED


def test_a_wildcard_judges_verdicts_without_a_threshold_and_their_name_ignores_them() -> None:
    declared, verdict = (EvaluatorInfo("right", boolean=True),), make_score(False, "right")
    rules = {"*": EvaluatorCriteria(scale=(1, 5), threshold=Threshold(gte=3))}
    _, (case,) = reduce_events(verdict, evaluators=declared, rules=rules)
    assert (case.status, case.evaluations["right"].threshold) == (Status.FAILED, Threshold(gte=0.5))
    run, _ = reduce_events(verdict, evaluators=declared, rules={"right": EvaluatorCriteria(ignore=True)})
    assert not run.suites[0].evaluators


@pytest.mark.parametrize("scale", [[0, 10**400], [10**400, 1], [0], "ab", [0, None], [True, 5], [5, 1]])
def test_invalid_scales_in_metadata_are_ignored(scale: Any) -> None:
    _, (case,) = reduce_events(make_score(0.5, metadata={"value": 1, "scale": scale}))
    assert (case.evaluations["words"].score, case.status) == (0.5, Status.SCORED)
    rules = {"words": EvaluatorCriteria(scale=(0, 2))}
    _, (case,) = reduce_events(make_score(0.5, metadata={"value": 1, "scale": scale}), rules=rules)
    assert case.evaluations["words"].score == 0.25


def test_without_other_scores_or_if_a_gate_needs_it_the_run_is_not_green() -> None:
    run, _ = reduce_events(make_score(350), make_score(1, case="b"))
    verdict = evaluate_gates(compare(run, None), Policy())
    assert verdict.conclusion is Conclusion.UNMEASURABLE
    assert "no scale is set" in verdict.failed[0].value
    good = make_score(1, "exact", threshold=Threshold(gte=1))
    run, _ = reduce_events(make_score(350), good)
    policy = Policy(Limits(min_score={"*": 0.5}))
    assert evaluate_gates(compare(run, None), policy).conclusion is Conclusion.UNMEASURABLE
    before, _ = reduce_events(make_score(0.5), good)
    verdict = evaluate_gates(compare(run, before), Policy())
    assert [each.rule for each in verdict.failed] == ["scores remain"], "the baseline has scores of it"


def test_a_changed_scale_is_not_compared() -> None:
    other = {"words": EvaluatorCriteria(scale=(0, 400))}
    (run, _), (base, _) = (
        reduce_events(make_score(350), rules={"words": WORDS}),
        reduce_events(make_score(350), rules=other),
    )
    (row,) = compare(run, base).rows
    assert (row.label, row.reason) == (RowLabel.NOT_COMPARABLE, "its scale changed: [0, 400] → [0, 500]")


def test_an_ignored_evaluator_leaves_no_trace() -> None:
    error = Errored(suite="s", stage="evaluator", error=ErrorInfo("E", "m"), case="a", evaluator="words")
    reducer = RunReducer(rules=ScoreRules(Criteria(evaluators={"w*": EvaluatorCriteria(ignore=True)})))
    declared = (EvaluatorInfo("words"), EvaluatorInfo("exact"))
    for event in (*events(make_score(350), make_score(1, "exact"), evaluators=declared), error):
        reducer.apply("log", None, event)
    (suite,) = reducer.results()
    assert list(suite.evaluators) == list(suite.columns.scores) == ["exact"]
    only, _ = reduce_events(make_score(350), rules={"*": EvaluatorCriteria(ignore=True)})
    assert evaluate_gates(compare(only, None), Policy()).conclusion is Conclusion.UNMEASURABLE


def test_a_threshold_without_an_evaluator_is_an_error() -> None:
    run, _ = reduce_events(make_score(1, "exact"))
    policy = Policy(criteria=Criteria(evaluators={"wrods": WORDS}))
    (finding,) = evaluate_gates(compare(run, None), policy).failed
    assert finding.value == "wrods matches no scorer, and has a threshold"


def test_changes_of_these_settings_are_described() -> None:
    old, new = Policy(), Policy(criteria=Criteria(evaluators={"words": WORDS}))
    assert list(policy_differences(old, new)) == [
        "scale for scorers 'words': not set → [0, 500]",
        "threshold for scorers 'words': not set → ≥ 100",
    ]


def test_the_order_of_settings_and_ignore_false_change_how_scores_are_recorded() -> None:
    ignored, kept = EvaluatorCriteria(ignore=True), EvaluatorCriteria(ignore=False)
    settings = [
        {"*": ignored, "words": kept},
        {"words": kept, "*": ignored},
        {"*": ignored},
        {"words": WORDS, "w*": EvaluatorCriteria(scale=(0, 5))},
        {"w*": EvaluatorCriteria(scale=(0, 5)), "words": WORDS},
    ]
    found = [Criteria(evaluators=each).score_settings for each in settings]
    assert all(found.count(each) == 1 for each in found)
    assert Criteria(evaluators={"*": EvaluatorCriteria(margin=0.1)}).score_settings == []


@pytest.mark.parametrize("scale", [(5, 1), (1, 1), (float("-inf"), 1), (-1e308, 1e308)])
def test_an_impossible_scale_of_a_suite_is_none(scale: tuple[float, float]) -> None:
    assert EvaluatorInfo("words", scale=scale).scale is None


@pytest.mark.parametrize(("value", "expected"), [(0.0, 0.0), (0.5, 0.1), (1.0, 0.2), (4.0, 0.8)])
def test_a_score_in_0_to_1_is_on_the_declared_scale_like_others(value: float, expected: float) -> None:
    stars = make_score(value, "stars")
    declared = (EvaluatorInfo("stars", scale=(0, 5)),)
    for rules in ({}, {"stars": EvaluatorCriteria(min_effect=0.1)}, {"other": WORDS}):
        _, (case,) = reduce_events(stars, evaluators=declared, rules=rules)
        assert case.evaluations["stars"].score == expected
        assert case.evaluations["stars"].metadata == {"value": value, "scale": [0, 5]}


def test_a_score_in_0_to_1_without_a_scale_stays_as_it_is() -> None:
    score = make_score(0.5, threshold=Threshold(gte=0.5))
    for rules in ({}, {"words": EvaluatorCriteria(min_effect=0.1)}):
        _, (case,) = reduce_events(score, rules=rules)
        assert (case.evaluations["words"].score, case.evaluations["words"].metadata) == (0.5, None)
        assert case.evaluations["words"].threshold == Threshold(gte=0.5)
    _, (case,) = reduce_events(score, rules={"words": EvaluatorCriteria(threshold=Threshold(gte=0.7))})
    assert (case.evaluations["words"].threshold, case.status) == (Threshold(gte=0.7), Status.FAILED)


def test_scores_outside_are_rare_by_their_share_of_all_scores() -> None:
    """One of twenty is as many as the limit allows; of the nineteen others it would be more."""
    base = make_run(*[0.9] * 20)
    for allowed, is_rare in ((0.05, True), (0.049, False)):
        run = compare(make_run(1.5, *[0.9] * 19), base, criteria=Criteria(max_dropped=allowed)).run
        columns = run.suites[0].columns
        assert (columns.errored_rows(), bool(columns.unscaled)) == (({0}, False) if is_rare else (set(), True))


def test_a_wrong_threshold_is_one_error_of_its_suite() -> None:
    stated = {"value": 2, "scale": [1, 5]}
    stars = [make_score(0.25, name, f"c{index}", metadata=stated) for index in range(3) for name in ("stars", "more")]
    run, _ = reduce_events(*stars, rules={"*": EvaluatorCriteria(threshold=Threshold(gte=0.8))})
    (error,) = run.suites[0].errors
    assert error.message.startswith("stars, case 'c0': the threshold of 'stars' in [evaluators] has the bound 0.8")
    assert len(run.suites[0].columns.errored_rows()) == 3


def test_the_error_of_a_score_outside_says_whether_a_verdict_is_lost() -> None:
    rules = {"stars": EvaluatorCriteria(scale=(1, 5))}
    for value, threshold, kind in (
        (7, None, "OutOfRange"),
        (7, Threshold(gte=4), "OutOfRange"),
        (0, Threshold(gte=4), "LostVerdict"),
    ):
        run, (case,) = reduce_events(make_score(value, "stars", threshold=threshold), rules=rules)
        (error,) = case.errors
        assert error.error.type == kind
        assert [each.type for each in run.suites[0].errors] == ([kind] if kind == "LostVerdict" else [])
