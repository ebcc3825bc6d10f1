"""What findings say about single cases, and which trials and errors of the baseline they count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.unit.kernel.builders import ERROR, ExampleSuite, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.gate import Verdict, evaluate_gates
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import Run

CRITICAL = Policy(Limits(min_pass_rate=0.0, fail_on_critical=True))
REGRESSION = Policy(Limits(min_pass_rate=0.0, max_error_rate=1.0, fail_on_regression=True))


def list_values(verdict: Verdict, rule: str) -> list[str]:
    return [each.value for each in verdict.failed if each.rule == rule]


def repeat(trials: Mapping[str, Sequence[float]], tags: Mapping[str, tuple[str, ...]]) -> Run:
    """A run in which each case has these scores, one for each trial."""
    run, columns = run_of(ExampleSuite(scored(*[1.0] * len(trials)))), Columns()
    for case, scores in trials.items():
        for number, score in enumerate(scores):
            evaluations = {"e": Evaluation(score, Threshold(gte=0.5))}
            columns.add(CaseResult(number, case, evaluations=evaluations, tags=tags.get(case, ())))
    return replace(run, suites=(run.suites[0].with_columns(columns),))


def test_a_finding_says_how_often_the_case_failed_in_the_baseline() -> None:
    tags, kept = {"c0": ("critical",)}, {"c1": (1.0, 0.0)}
    new = repeat({"c0": (0.0, 0.0), **kept}, tags)
    for trials, text in (
        ((1.0,), "how often it failed before is unknown"),
        ((1.0, 1.0), "in the baseline it failed 0 of 2 trials"),
        ((1.0, 0.0, 1.0), "in the baseline it failed 1 of 3 trials"),
    ):
        verdict = evaluate_gates(compare(new, repeat({"c0": trials, **kept}, tags)), CRITICAL)
        assert list_values(verdict, "critical case") == [f"c0 newly fails (not run again; {text})"]


def test_a_critical_case_fails_in_its_own_suite_only() -> None:
    names = ("a", "b")
    tags = {"c0": ("critical",)}
    base = run_of(*(ExampleSuite(scored(*[1.0] * 20), id=name, tags=tags) for name in names))
    new = run_of(
        ExampleSuite(scored(*[1.0] * 20), id="a", tags=tags),
        ExampleSuite(scored(0.0, *[1.0] * 19), id="b", tags=tags),
    )
    failed = [each for each in evaluate_gates(compare(new, base), CRITICAL).failed if each.rule == "critical case"]
    assert [each.suite for each in failed] == ["b"]


def test_critical_cases_of_an_unfinished_suite_are_not_reported_as_gone() -> None:
    base = run_of(ExampleSuite(scored(*[1.0] * 20), tags={"c19": ("critical",)}))
    for complete, rules in ((False, ["suite finished"]), (True, ["critical cases remain"])):
        new = run_of(ExampleSuite(scored(*[1.0] * 19), complete=complete))
        assert [each.rule for each in evaluate_gates(compare(new, base), CRITICAL).failed] == rules


def test_a_finding_names_up_to_five_cases() -> None:
    tags = {f"c{index}": ("critical",) for index in range(8)}
    base = run_of(ExampleSuite(scored(*[1.0] * 20), tags=tags))
    for gone, names in ((5, "c0, c1, c2, c3, c4"), (6, "c0, c1, c2, c3, c4 and 1 more")):
        cases = {f"c{index}": {"e": 1.0} for index in range(gone, 20)}
        verdict = evaluate_gates(compare(run_of(ExampleSuite(cases, tags=tags)), base), CRITICAL)
        assert list_values(verdict, "critical cases remain") == [
            f"{gone} critical cases of the baseline are gone: {names}"
        ]


def test_one_new_critical_case_is_named_as_one() -> None:
    base = run_of(ExampleSuite(scored(*[1.0] * 20), tags={"c0": ("critical",), "c1": ("critical",)}))
    cases = {f"c{index}": {"e": 1.0} for index in range(2, 20)}
    new = run_of(ExampleSuite({**cases, "new": {"e": 1.0}}, tags={"new": ("critical",)}))
    (value,) = list_values(evaluate_gates(compare(new, base), CRITICAL), "critical cases remain")
    assert value.endswith("gone: c0, c1; 1 is new, and 1 of the new ones pass")


def test_a_critical_case_without_a_result_in_the_baseline_need_not_have_one() -> None:
    tags = {"c0": ("critical",)}
    for before, count in ((1.0, 1), (0.0, 0), (ERROR, 0)):
        base, new = (run_of(ExampleSuite(scored(score, *[1.0] * 19), tags=tags)) for score in (before, ERROR))
        verdict = evaluate_gates(compare(new, base), CRITICAL)
        assert len(list_values(verdict, "critical cases remain")) == count, before


def test_errors_of_the_baseline_are_no_new_errors() -> None:
    """The share of cases with an error rises by less than the smallest effect, although it is large."""
    base = run_of(ExampleSuite(scored(*[1.0] * 980, *[ERROR] * 20)))
    for new_errors, count in ((9, 0), (10, 1)):
        errors = [ERROR] * new_errors
        new = run_of(ExampleSuite(scored(*errors, *[1.0] * (980 - new_errors), *[ERROR] * 20)))
        assert len(list_values(evaluate_gates(compare(new, base), REGRESSION), "new errors")) == count, new_errors


def test_new_errors_of_several_suites_need_more_evidence() -> None:
    """Six of six by chance: 1 of 64. Two suites share the level, so each needs seven."""
    for names, errors, count in ((("a",), 6, 1), (("a", "b"), 6, 0), (("a", "b"), 7, 1)):
        base = run_of(*(ExampleSuite(scored(*[1.0] * 100), id=name) for name in names))
        broken = ExampleSuite(scored(*[ERROR] * errors, *[1.0] * (100 - errors)), id="a")
        others = (ExampleSuite(scored(*[1.0] * 100), id=name) for name in names[1:])
        verdict = evaluate_gates(compare(run_of(broken, *others), base), REGRESSION)
        assert len(list_values(verdict, "new errors")) == count, (names, errors)
