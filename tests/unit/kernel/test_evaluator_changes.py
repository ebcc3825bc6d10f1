"""Changes of evaluators that let cases pass which failed before: by the baseline's policy they fail a run."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.unit.kernel.builders import ExampleSuite, info, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.evaluator_changes import EvaluatorChangeKind, find_evaluator_changes
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult


def make_run(thresholds: Mapping[str, Threshold | None], *, digests: Mapping[str, str] | None = None) -> Run:
    """A run with a score of 0.6 in each case, and the case's threshold."""
    columns = Columns()
    for case, threshold in thresholds.items():
        digest = (digests or {}).get(case, "")
        columns.add(CaseResult(0, case, digest=digest, evaluations={"e": Evaluation(0.6, threshold)}))
    suite = SuiteResult("s", "s", evaluators={"e": EvaluatorInfo("e")}, complete=True, trials=Trials(columns))
    return Run("run", 0.0, RunEnd(1.0, complete=True), RunCode("0"), suites=(suite,))


def count_lowered(new: Run, old: Run) -> str:
    """What is said of lowered thresholds; empty if there are none."""
    found = find_evaluator_changes(compare(new, old))
    assert all(each.change is EvaluatorChangeKind.LOWERED for each in found)
    return " ".join(each.what for each in found)


AT_LEAST, ABOVE = Threshold(gte=0.5), Threshold(gt=0.5)
AT_MOST, BELOW = Threshold(lte=0.5), Threshold(lt=0.5)


@pytest.mark.parametrize(
    ("new", "old", "lowered"),
    [
        (AT_LEAST, ABOVE, True),
        (ABOVE, AT_LEAST, False),
        (AT_MOST, BELOW, True),
        (BELOW, AT_MOST, False),
        (AT_LEAST, AT_LEAST, False),
        (Threshold(gte=0.4), AT_LEAST, True),
        (Threshold(gte=0.6), AT_LEAST, False),
        (Threshold(lte=0.6), AT_MOST, True),
        (Threshold(lte=0.4), AT_MOST, False),
        (None, AT_LEAST, True),
        (AT_LEAST, None, False),
        (None, Threshold(gte=0.0), False),
        (None, Threshold(gt=0.0), True),
        (None, Threshold(lt=1.0), True),
        (AT_MOST, AT_LEAST, True),
        (Threshold(gte=0.5, lte=0.9), AT_LEAST, False),
        (AT_LEAST, Threshold(gte=0.5, lte=0.9), True),
        (Threshold(gte=0.2, gt=0.5), ABOVE, False),
    ],
)
def test_a_threshold_is_lower_if_more_scores_pass(
    new: Threshold | None, old: Threshold | None, *, lowered: bool
) -> None:
    cases = ("a", "b")
    found = count_lowered(make_run(dict.fromkeys(cases, new)), make_run(dict.fromkeys(cases, old)))
    assert found == ("its threshold is lower, or gone, in 2 cases" if lowered else "")


def test_thresholds_are_compared_case_by_case() -> None:
    strict, lenient = Threshold(gte=0.9), Threshold(gte=0.1)
    base = make_run({"a": strict, "b": lenient})
    assert count_lowered(make_run({"a": strict, "b": lenient}), base) == ""
    assert count_lowered(make_run({"a": lenient, "b": lenient}), base) == "its threshold is lower, or gone, in 1 case"
    assert count_lowered(make_run({"a": strict, "b": strict}), base) == ""


def test_a_new_or_edited_case_may_have_any_threshold_of_the_baseline() -> None:
    strict, lenient, lowest = Threshold(gte=0.9), Threshold(gte=0.1), Threshold(gte=0.05)
    base = make_run({"a": strict, "b": lenient}, digests={"a": "1", "b": "1"})
    assert count_lowered(make_run({"a": strict, "b": lenient, "c": lenient}), base) == ""
    assert count_lowered(make_run({"a": strict, "b": lenient, "c": lowest}), base).endswith("in 1 case")
    edited = make_run({"a": lenient, "b": lenient}, digests={"a": "2", "b": "1"})
    assert count_lowered(edited, base) == ""
    same = make_run({"a": lenient, "b": lenient}, digests={"a": "1", "b": "1"})
    assert count_lowered(same, base).endswith("in 1 case")
    unknown = make_run({"a": lenient, "b": lenient}, digests={"b": "1"})
    assert count_lowered(unknown, base).endswith("in 1 case")


def test_a_baseline_without_scores_has_no_thresholds() -> None:
    old = run_of(ExampleSuite(scored(None, None)))
    for threshold in (None, AT_LEAST):
        assert find_evaluator_changes(compare(run_of(ExampleSuite(scored(1.0, 1.0), threshold=threshold)), old)) == ()
    assert find_evaluator_changes(compare(old, None)) == ()


def test_only_the_policy_of_the_baseline_fails_a_changed_evaluator() -> None:
    cases = {f"c{index}": {"e": 1.0, "f": 1.0, "g": 1.0} for index in range(12)}
    old = ExampleSuite(cases, evaluators=[info("e"), info("f", prompt="a"), info("g")])
    fewer = {case: {"e": 1.0, "f": 1.0} for case in cases}
    new = ExampleSuite(fewer, evaluators=[info("e"), info("f", prompt="b")], threshold=Threshold(gte=0.4))
    comparison = compare(run_of(new), run_of(old))
    changes = [(each.evaluator, str(each.change), each.what) for each in find_evaluator_changes(comparison)]
    lowered = "its threshold is lower, or gone, in 12 cases"
    assert changes == [
        ("e", "with a lower threshold", lowered),
        ("f", "changed", "its prompt changed"),
        ("f", "with a lower threshold", lowered),
        ("g", "removed", "it is missing"),
    ]
    own, based = (evaluate_gates(comparison, Policy(Limits(), of_base=of_base)) for of_base in (False, True))
    assert (own.exit_code, based.exit_code) == (0, 1)
    assert len(own.evaluator_changes) == len(based.evaluator_changes) == 4
    found = [(one.suite, one.evaluator, one.value) for one in based.failed]
    assert found == [("demo", evaluator, what) for evaluator, _, what in changes]
    assert {one.rule for one in based.failed} == {"evaluators unchanged"}
