"""A judge that agrees with people too seldom is shown, and fails nothing."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest

from scoregate.kernel.compare.agreement import (
    Calibrations,
    digest_fingerprint,
    explain_uncalibrated,
    is_judge,
)
from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.judge_checks import Review
from scoregate.kernel.gate import Verdict, evaluate_gates
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.event_values import EvaluatorInfo, Fingerprint
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.policy import Limits, Policy, Severity, policy_differences
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult
from scoregate.kernel.types.runs.text_column import TextColumn

JUDGE = Fingerprint(source="s", prompt="p", parameters="q", model="gpt-4o")
FUNCTION = Fingerprint(source="s", parameters="q")


def make_calibrations(alike: int, missed: int = 0, fingerprint: Fingerprint = JUDGE) -> Calibrations:
    """Reviews of which people fail every second one and all that the judge misses."""
    equal = [Review(index % 2, index % 2) for index in range(alike)]
    return {("polite", digest_fingerprint(fingerprint)): [*[Review(1, 0)] * missed, *equal]}


def run_of(mean: float, fingerprint: Fingerprint | None = JUDGE, n: int = 60) -> Run:
    columns = Columns()
    columns.hashes, columns.digests = [f"case-{index}" for index in range(n)], TextColumn([""] * n)
    columns.repeats, columns.statuses = array("l", [0] * n), bytearray(n)
    columns.scores["polite"] = array("d", [1.0 if index < mean * n else 0.0 for index in range(n)])
    infos = {"polite": EvaluatorInfo("polite", fingerprint)}
    suite = SuiteResult("bot", "bot", evaluators=infos, trials=Trials(columns), complete=True)
    return Run("run", started=0, end=RunEnd(1, complete=True), code=RunCode("1"), suites=(suite,))


def verdict(limits: Limits, calibrations: Calibrations, *, fewest: int = 50, old: Run | None = None) -> Verdict:
    policy = Policy(limits, min_overrides=fewest)
    return evaluate_gates(compare(run_of(0.5), old or run_of(1.0)), policy, calibrations=calibrations)


def test_judges_call_models() -> None:
    assert is_judge(EvaluatorInfo("polite", JUDGE))
    assert not is_judge(EvaluatorInfo("polite", FUNCTION))
    assert not is_judge(EvaluatorInfo("polite"))


def test_a_judge_differs_if_its_scores_can() -> None:
    same = digest_fingerprint(JUDGE)
    assert digest_fingerprint(replace(JUDGE, version="v2")) == same
    for part in ("source", "prompt", "parameters", "model"):
        assert digest_fingerprint(replace(JUDGE, **{part: "other"})) != same
    versions = [Fingerprint(model="m", version=version) for version in ("v1", "v2")]
    assert digest_fingerprint(versions[0]) != digest_fingerprint(versions[1])
    assert digest_fingerprint(None) == ""


@pytest.mark.parametrize(
    ("calibrations", "reason"),
    [
        ({}, "judge not calibrated (0 of 50 reviews)"),
        (make_calibrations(12), "judge not calibrated (12 of 50 reviews)"),
        (make_calibrations(50, fingerprint=replace(JUDGE, model="other")), "judge not calibrated (0 of 50 reviews)"),
        (
            make_calibrations(41, 9),
            "judge not calibrated (in 50 reviews it finds 21 of 30 failures, at least 50.6%; balanced accuracy 85.0%, "
            "at least 72.2%; next check at 100)",
        ),
        (
            {("polite", digest_fingerprint(JUDGE)): [Review(1, 1)] * 60},
            "judge not calibrated (people fail none of 50 outputs and agree with the judge on 50; review a run with "
            "outputs that should fail)",
        ),
        (make_calibrations(50), ""),
    ],
)
def test_an_uncalibrated_judge_has_a_reason(calibrations: Calibrations, reason: str) -> None:
    info = EvaluatorInfo("polite", JUDGE)
    assert explain_uncalibrated(info, calibrations, least=0.8, fewest=50) == reason
    assert explain_uncalibrated(EvaluatorInfo("polite", FUNCTION), calibrations, least=0.8, fewest=50) == ""


@pytest.mark.parametrize(
    "limits",
    [Limits(min_score={"*": 0.9}), Limits(max_drop={"polite": 0.1}), Limits(fail_on_regression=True)],
    ids=["min_score", "max_drop", "fail_on_regression"],
)
def test_only_a_calibrated_judge_fails_a_row(limits: Limits) -> None:
    demanding = replace(limits, min_judge_agreement=0.8)
    assert verdict(limits, {}).conclusion is Conclusion.FAILED
    shown = verdict(demanding, make_calibrations(12))
    assert shown.conclusion is Conclusion.PASSED
    assert shown.uncalibrated == {("bot", "polite"): "judge not calibrated (12 of 50 reviews)"}
    (warning,) = shown.warnings
    assert (warning.rule, warning.value, warning.bound) == ("judge agreement", shown.uncalibrated["bot", "polite"], 0.8)
    trusted = verdict(demanding, make_calibrations(50))
    assert (trusted.conclusion, trusted.warnings, trusted.uncalibrated) == (Conclusion.FAILED, (), {})
    assert (
        "agrees with people in 50 of 50 reviews"
        in {found.rule: found for found in trusted.findings}["judge agreement"].value
    )


def test_functions_need_no_calibration() -> None:
    limits = Limits(min_score={"*": 0.9}, min_judge_agreement=0.8)
    found = evaluate_gates(compare(run_of(0.5, FUNCTION), None), Policy(limits))
    assert (found.conclusion, found.uncalibrated) == (Conclusion.FAILED, {})


def test_calibration_can_be_required_or_ignored() -> None:
    required = Limits(min_judge_agreement=0.8, severity={"judge_agreement": Severity.FAIL})
    assert verdict(required, {}).conclusion is Conclusion.FAILED
    without_limit = verdict(replace(required, severity={"judge_agreement": Severity.OFF}), {})
    assert (without_limit.conclusion, without_limit.warnings) == (Conclusion.PASSED, ())
    assert without_limit.uncalibrated


def test_a_changed_judge_with_a_limit_is_still_reported() -> None:
    limits = Limits(max_drop={"*": 0.1}, min_judge_agreement=0.8, severity={"comparable": Severity.FAIL})
    result = verdict(limits, {}, old=run_of(1.0, replace(JUDGE, prompt="old")))
    assert [each.rule for each in result.failed] == ["comparable"]


def test_calibration_changes_are_reported() -> None:
    old, new = Policy(Limits(min_judge_agreement=0.8)), Policy(Limits(), min_overrides=50)
    assert list(policy_differences(old, new)) == [
        "min_judge_agreement for all suites: 0.8 → not set",
        "min_overrides: 10 → 50",
    ]
    assert (old.asks_for_calibration, new.asks_for_calibration) == (True, False)
    assert Policy(suites={"a*": Limits(min_judge_agreement=0.5)}).asks_for_calibration
