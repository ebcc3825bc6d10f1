"""How one score is read: its scale, its threshold, and the error if it is on none."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.event_values import NO_SCALE, ErrorInfo, EvaluatorInfo
from scoregate.kernel.types.events import CaseFinished, Errored, Event, Labelled, ReviewRequested, Scored, SuiteStarted
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseError, CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.policy import Criteria, EvaluatorCriteria
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult
from scoregate.kernel.types.runs.score_rules import (
    ScoreRules,
    describe_unscaled,
    describe_wrong_bound,
    find_unscaled,
    round_to_unit,
    without_rare_unscaled,
)

KEY: dict[str, Any] = {"suite": "s", "case": "c", "evaluator": "e"}
HALF = Threshold(gte=0.5)
STATED = {"value": 3, "scale": [1, 5]}


def read(score: float, rule: EvaluatorCriteria | None = None, scale: Any = None, **fields: Any) -> Scored | ErrorInfo:
    rules = ScoreRules(Criteria(evaluators={"e": rule} if rule else {}))
    declared = EvaluatorInfo("e", scale=scale) if scale else None
    return rules.read_score(Scored(**KEY, score=score, **fields), declared)


def make_score(score: float, **fields: Any) -> Scored:
    return Scored(**KEY, score=score, **fields)


@pytest.mark.parametrize(
    ("score", "rounded"),
    [
        (0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (-1e-9, 0.0), (1 + 1e-9, 1.0), (-2e-9, None), (1 + 2e-9, None), (2.0, None),
    ],
)  # fmt: skip
def test_rounding_errors_are_rounded_to_the_unit(score: float, rounded: float | None) -> None:
    assert round_to_unit(score) == rounded


@pytest.mark.parametrize(
    ("threshold", "problem"),
    [
        (Threshold(gte=2), ""),
        (Threshold(gte=1), "(≥ 1) holds for every score on the scale [1, 5]"),
        (Threshold(lte=5), "(≤ 5) holds for every score on the scale [1, 5]"),
        (Threshold(gt=1), ""),
        (Threshold(lt=5), ""),
        (Threshold(gte=1, lte=4), ""),
        (Threshold(gte=5), ""),
        (Threshold(lte=1), ""),
        (Threshold(gte=0.5), "has the bound 0.5, which is outside the scale [1, 5]"),
        (Threshold(lt=5.5), "has the bound 5.5, which is outside the scale [1, 5]"),
        (Threshold(), ""),
    ],
)
def test_a_bound_must_be_on_the_scale_and_mean_something(threshold: Threshold, problem: str) -> None:
    assert describe_wrong_bound(threshold, (1, 5)) == problem


def test_a_score_without_a_scale_is_read_as_it_is() -> None:
    plain = make_score(0.5, threshold=HALF, metadata={"a": 1})
    assert read(0.5, threshold=HALF, metadata={"a": 1}) == plain
    assert read(1 + 1e-10) == make_score(1.0)
    assert read(0.5, EvaluatorCriteria(threshold=Threshold(gte=0.7)), threshold=HALF) == make_score(
        0.5, threshold=Threshold(gte=0.7)
    )
    for score in (inf, -inf):
        assert read(score) == make_score(score)
        assert read(score, EvaluatorCriteria(threshold=HALF)) == make_score(score, threshold=HALF)
    kept = read(nan, scale=(0, 5))
    assert isinstance(kept, Scored)
    assert kept.metadata is None


@pytest.mark.parametrize(
    ("threshold", "kind"),
    [(None, NO_SCALE), (HALF, "OutOfRange"), (Threshold(lte=0.5), "LostVerdict"), (Threshold(), "OutOfRange")],
)
def test_a_score_on_no_scale_is_an_error(threshold: Threshold | None, kind: str) -> None:
    for error in (read(7.5, threshold=threshold), read(7.5, EvaluatorCriteria(threshold=threshold))):
        assert isinstance(error, ErrorInfo)
        assert (error.type, error.message) == (kind, "its score 7.5 is outside [0, 1], and it has no scale")
        assert "ignore = true" in error.advice


def test_a_score_is_mapped_from_the_scale_of_the_setting_or_the_suite() -> None:
    mapped = make_score(0.5, threshold=Threshold(gte=0.25), metadata={"value": 3, "scale": [1, 5]})
    setting = EvaluatorCriteria(scale=(1, 5))
    assert read(3, setting, threshold=Threshold(gte=2)) == mapped
    assert read(3, scale=(1, 5), threshold=Threshold(gte=2)) == mapped
    assert read(3, setting, scale=(0, 100), threshold=Threshold(gte=2)) == mapped
    assert read(3, EvaluatorCriteria(scale=(1, 5), threshold=Threshold(gte=2)), threshold=Threshold(gte=4)) == mapped
    assert read(3, setting, metadata={"a": 1}) == make_score(0.5, metadata={"value": 3, "a": 1, "scale": [1, 5]})
    assert read(3, setting, metadata="why") == make_score(
        0.5, metadata={"value": 3, "metadata": "why", "scale": [1, 5]}
    )
    assert read(0.5, EvaluatorCriteria(min_effect=0.1), scale=(0, 5)) == make_score(
        0.1, metadata={"value": 0.5, "scale": [0, 5]}
    )


def test_a_score_that_was_mapped_is_mapped_back_first() -> None:
    assert read(0.5, metadata=STATED, threshold=Threshold(gt=0.25)) == make_score(
        0.5, metadata=STATED, threshold=Threshold(gt=0.25)
    )
    setting = EvaluatorCriteria(scale=(0, 6))
    assert read(0.5, setting, metadata=STATED, threshold=Threshold(lt=0.25)) == make_score(
        0.5, metadata={"value": 3, "scale": [0, 6]}, threshold=Threshold(lt=2 / 6)
    )
    own = read(0.5, EvaluatorCriteria(threshold=Threshold(gte=4)), metadata=STATED)
    assert own == make_score(0.5, metadata=STATED, threshold=Threshold(gte=0.75))
    for scale in ([1], [5, 1], [1, 1], [0, inf], ["a", 5], "15", None):
        assert read(0.5, metadata={"value": 3, "scale": scale}) == make_score(
            0.5, metadata={"value": 3, "scale": scale}
        )
    assert read(0.5, setting, metadata={"scale": [1, 5]}) == make_score(
        0.5 / 6, metadata={"value": 0.5, "scale": [0, 6]}
    )


@pytest.mark.parametrize(
    ("threshold", "kind"), [(None, "OutOfRange"), (Threshold(gte=2), "OutOfRange"), (Threshold(lte=4), "LostVerdict")]
)
def test_a_score_outside_of_its_scale_is_an_error(threshold: Threshold | None, kind: str) -> None:
    error = read(7, scale=(1, 5), threshold=threshold)
    assert isinstance(error, ErrorInfo)
    assert (error.type, error.message) == (kind, "its score 7 is outside its scale [1, 5]")
    assert error.advice == "Set a wider `scale` for it in the settings, in [evaluators]."


def test_a_threshold_that_is_wrong_for_its_scale_loses_the_verdict() -> None:
    error = read(3, EvaluatorCriteria(scale=(1, 5), threshold=Threshold(gte=0.5)))
    assert isinstance(error, ErrorInfo)
    assert (error.type, error.message) == (
        "LostVerdict",
        "the threshold of 'e' in [evaluators] has the bound 0.5, which is outside the scale [1, 5]",
    )
    # The suite's own threshold is not checked like one of the settings.
    assert isinstance(read(3, EvaluatorCriteria(scale=(1, 5)), threshold=Threshold(gte=0.5)), Scored)


def test_a_verdict_has_its_own_threshold_before_that_of_a_wildcard() -> None:
    verdict = make_score(True)
    for evaluators, threshold, expected in (
        ({}, None, None),
        ({"e": EvaluatorCriteria(threshold=HALF)}, Threshold(gte=1), HALF),
        ({"*": EvaluatorCriteria(threshold=HALF)}, Threshold(gte=1), Threshold(gte=1)),
        ({"*": EvaluatorCriteria(threshold=HALF)}, None, HALF),
        ({"*": EvaluatorCriteria(scale=(1, 5), threshold=Threshold(gte=3))}, None, HALF),
    ):
        found = ScoreRules(Criteria(evaluators=evaluators)).read_score(
            Scored(**KEY, score=True, threshold=threshold), EvaluatorInfo("e", boolean=True)
        )
        assert found == Scored(**KEY, score=verdict.score, threshold=expected)


def test_events_of_ignored_evaluators_are_left_out() -> None:
    rules = ScoreRules(
        Criteria(evaluators={"e*": EvaluatorCriteria(ignore=True), "e2": EvaluatorCriteria(ignore=False)})
    )
    of_case: dict[str, Any] = {"suite": "s", "case": "c"}
    ignored: list[Event] = [
        make_score(0.5),
        Labelled(**KEY, label="x"),
        Errored(**KEY, stage="evaluator", error=ErrorInfo("E", "m")),
        ReviewRequested(**KEY, name="r"),
    ]
    for event in ignored:
        assert rules.without_ignored(event) is None
        assert rules.without_ignored(event, {"e"}) is event
        assert ScoreRules().without_ignored(event) is event
    verdict = Scored(**KEY, score=True)
    assert rules.without_ignored(verdict) is verdict
    other = Errored(**of_case, stage="task", error=ErrorInfo("E", "m"))
    assert rules.without_ignored(other) is other
    assert rules.without_ignored(Scored(**of_case, evaluator="e2", score=1.0)) is not None
    finished = CaseFinished(**of_case, unscored=("e", "e1", "e2", "f"))
    assert rules.without_ignored(finished, {"e1"}) == CaseFinished(**of_case, unscored=("e1", "e2", "f"))
    infos = (EvaluatorInfo("e"), EvaluatorInfo("e1", boolean=True), EvaluatorInfo("f"))
    assert rules.without_ignored(SuiteStarted(suite="s", evaluators=infos)) == SuiteStarted(
        suite="s", evaluators=infos[1:]
    )


def test_the_scale_of_a_setting_is_that_of_its_evaluator() -> None:
    rules = ScoreRules(Criteria(evaluators={"e": EvaluatorCriteria(scale=(0, 5))}))
    assert rules.describe_evaluator(EvaluatorInfo("e", scale=(0, 9))).scale == (0, 5)
    assert rules.describe_evaluator(EvaluatorInfo("f", scale=(0, 9))).scale == (0, 9)
    assert rules.describe_evaluator(EvaluatorInfo("e", boolean=True)).scale is None
    assert rules.evaluator("e") is rules.evaluator("e")


def make_suite(outside: int, inside: int = 0) -> SuiteResult:
    columns = Columns()
    for index in range(outside):
        columns.add(CaseResult(0, f"o{index}", errors=[CaseError(ErrorInfo(NO_SCALE, "m"), "e")]))
    for index in range(inside):
        columns.add(CaseResult(0, f"i{index}", evaluations={"e": Evaluation(0.5)}))
    return SuiteResult("s", "s", trials=Trials(columns))


def test_evaluators_without_a_scale_are_described() -> None:
    advice = "outside [0, 1]: set its `scale`, or `ignore`, in [evaluators]"
    assert describe_unscaled(make_suite(0), "e") == describe_unscaled(make_suite(1), "f") == ""
    assert describe_unscaled(make_suite(1), "e") == f"1 score is {advice}"
    assert describe_unscaled(make_suite(2), "e") == f"2 scores are {advice}"
    good = make_suite(0)
    assert find_unscaled(make_suite(1), [make_suite(2)], "e") == f"1 score is {advice}"
    assert find_unscaled(good, [good, make_suite(2)], "e") == f"in the baseline, 2 scores are {advice}"
    assert find_unscaled(good, [good], "e") == ""


def test_few_scores_outside_are_errors_in_a_run_and_its_companions() -> None:
    def make_run(suite: SuiteResult, **fields: Any) -> Run:
        return Run("r", 0, RunEnd(0), RunCode("1"), suites=(suite,), **fields)

    def criteria_of(_: SuiteResult) -> Criteria:
        return Criteria(max_dropped=0.5)

    good = make_run(make_suite(0, 1))
    assert without_rare_unscaled(good, criteria_of) is good
    rare = make_run(make_suite(1, 1))
    assert without_rare_unscaled(rare, criteria_of).suites[0].columns.errored == {"e": {0}}
    often = make_run(make_suite(2, 1))
    assert without_rare_unscaled(often, criteria_of).suites[0].columns.unscaled == {"e": {0, 1}}
