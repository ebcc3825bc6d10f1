"""The arms of a suite: the effect of a skill, what a change does to it, and which gates apply."""

from __future__ import annotations

from array import array
from dataclasses import replace

from tests.unit.kernel.builders import HALF, ExampleSuite, info, mark_source, run_of

from scoregate.features.arms.comparison import compare_arms
from scoregate.features.arms.section import ArmView, build_arms
from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.event_values import Fingerprint
from scoregate.kernel.types.runs.arms import EXPECTATIONS, NOT_TRIGGERED, TRIGGERED
from scoregate.kernel.types.runs.dependencies import CarriedFrom
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.policy import DEFAULTS, Criteria, Policy
from scoregate.kernel.types.runs.run import Run

WITHOUT = {"task": "without"}
NAMES = (EXPECTATIONS, TRIGGERED, NOT_TRIGGERED)


def arms(with_it: list[float], without: list[float], *, triggered: int = 0, unwanted: int = 0) -> Run:
    """A run with both arms; `unwanted` of five other cases also load the skill."""
    cases = {
        f"c{index}": {EXPECTATIONS: score, TRIGGERED: float(index < triggered), NOT_TRIGGERED: None}
        for index, score in enumerate(with_it)
    }
    cases |= {
        f"n{index}": {EXPECTATIONS: None, TRIGGERED: None, NOT_TRIGGERED: float(index >= unwanted)}
        for index in range(5)
    }
    evaluators = tuple(map(info, NAMES))
    other = {f"c{index}": {EXPECTATIONS: score} for index, score in enumerate(without)}
    return run_of(
        ExampleSuite(cases, "pdf", evaluators, "skills/pdf/SKILL.md", HALF),
        ExampleSuite(other, "pdf", evaluators[:1], "skills/pdf/evals/evals.json", None, params=WITHOUT),
    )


def view(comparison: Comparison) -> ArmView:
    compared = compare_arms(comparison.run.suites, lambda _: Criteria())
    (arm,) = build_arms(compared, comparison.rows)
    return arm


def sentence(comparison: Comparison) -> str:
    return view(comparison).sentence


GOOD, BAD = [1.0] * 40, [1.0] * 20 + [0.0] * 20


def test_effects_are_paired_by_case_and_have_the_rows_change() -> None:
    base, run = arms(GOOD, BAD, triggered=40), arms([1.0] * 39 + [0.0], BAD, triggered=38, unwanted=1)
    comparison = compare(run, base)
    effect = view(comparison).comparison.effect
    assert effect is not None
    assert (effect.label, effect.pairs.n, effect.delta) == (RowLabel.BETTER, 40, 0.475)
    assert view(comparison).change in comparison.rows
    text = sentence(comparison)
    assert text.startswith("helps +47.5 pp [+"), text
    assert "this change −2.5 pp [" in text
    assert "], within noise" in text
    assert "triggers in 38 of 40 cases where it should, and in 1 of 5 cases where it should not" in text


def test_the_arm_without_a_skill_is_only_in_the_gate_of_errors() -> None:
    base, run = arms(GOOD, GOOD, triggered=40), arms(GOOD, BAD, triggered=40)
    for comparison in (compare(run, base), compare(run, None), compare(replace(run, suites=run.suites[:1]), base)):
        assert {row.suite for row in comparison.rows} == {"pdf"}
        assert (comparison.gone, comparison.newly_failing) == ((), ())
        policy = Policy(replace(DEFAULTS, fail_on_regression=True, min_score={"expectations": 0.9}))
        verdict = evaluate_gates(comparison, policy)
        assert [each for each in verdict.failed if each.suite is not None] == []
        assert {each.rule for each in verdict.findings if each.suite != "pdf" and each.suite} <= {"error rate"}
    assert [suite.role is TrialRole.WITHOUT for suite in run.suites] == [False, True]


def test_harmful_and_unmeasured_effects_are_named() -> None:
    assert sentence(compare(arms(BAD, GOOD), None)).startswith("harms −50.0 pp [")
    assert ", within noise" in sentence(compare(arms(GOOD, [1.0] * 39 + [0.0]), None))
    assert "too few cases to be certain" in sentence(compare(arms([1.0] * 3, [0.0] * 3), None))
    errors = sentence(compare(arms(GOOD, []), None))
    assert "can't be measured" in errors or not errors.startswith("helps")


def test_trials_of_a_case_and_tokens_of_a_judge_are_named() -> None:
    run = arms(GOOD, BAD, triggered=40)
    with_it, without = (
        each.with_columns(replace(each.columns, tokens=array("d", [tokens] * len(each.columns.hashes))))
        for each, tokens in zip(run.suites, (2_000, 100), strict=True)
    )
    assert sentence(compare(replace(run, suites=(with_it, without)), None)).endswith("; +1,900 tokens per case")
    model_info = {EXPECTATIONS: replace(info(EXPECTATIONS), fingerprint=Fingerprint(model="gpt-5"))}
    with_it = replace(with_it, evaluators={**with_it.evaluators, **model_info})
    text = sentence(compare(replace(run, suites=(with_it, without)), None))
    assert text.endswith("+1,900 tokens per case, those of the judge included")
    twice = replace(with_it.columns, hashes=["c0"] * len(with_it.columns.hashes))
    text = sentence(compare(replace(run, suites=(with_it.with_columns(twice), without)), None))
    assert "triggers in 40 of 40 trials where it should, and in 0 of 5 trials where it should not" in text


def test_reused_results_are_named() -> None:
    run = arms(GOOD, BAD)
    carried = CarriedFrom("1", "main@abc", 1.0)
    without = replace(run, suites=(run.suites[0], mark_source(run.suites[1], carried=carried)))
    assert "compared with running without it (results of the base's run)" in sentence(compare(without, arms(GOOD, BAD)))
    both = replace(run, suites=tuple(mark_source(each, carried=carried) for each in run.suites))
    assert "this change does not affect it" in sentence(compare(both, arms(GOOD, BAD)))
