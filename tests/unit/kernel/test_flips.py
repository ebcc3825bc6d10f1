"""Flipped cases with several trials: a repeat is not a case."""

from __future__ import annotations

import pytest

from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.report.suites import build_totals
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo, Fingerprint
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseError, CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult


def run_of(trials: dict[str, str], sdk: str | None = None) -> Run:
    """A run with the trials of each case: `P` passes, `F` fails, and `E` has an error."""
    columns = Columns()
    for case, outcomes in trials.items():
        for repeat, outcome in enumerate(outcomes):
            evaluation = Evaluation(float(outcome == "P"), Threshold(gte=1.0))
            errors = [CaseError(ErrorInfo("E", "no"))] if outcome == "E" else []
            columns.add(CaseResult(0, case, repeat, evaluations={"e": evaluation}, errors=errors))
    suite = SuiteResult("s", "s", evaluators={"e": EvaluatorInfo("e")}, complete=True, trials=Trials(columns), sdk=sdk)
    return Run("run", 0.0, RunEnd(1.0, complete=True), RunCode("0"), suites=(suite,))


def list_flips(comparison: Comparison) -> tuple[list[str], list[str]]:
    hashes = comparison.run.suites[0].columns.hashes
    failing, passing = comparison.newly_failing, comparison.newly_passing
    return [hashes[flip.row] for flip in failing], [hashes[flip.row] for flip in passing]


@pytest.mark.parametrize(
    ("new", "old", "found"),
    [
        ("F", "P", (["c"], [])),
        ("P", "F", ([], ["c"])),
        ("FPP", "PPP", ([], [])),
        ("FFP", "PFP", (["c"], [])),
        ("FP", "PP", ([], [])),
        ("FFF", "P", (["c"], [])),
        ("PFP", "FFP", ([], ["c"])),
    ],
)
def test_a_case_flips_when_most_of_its_trials_do(new: str, old: str, found: tuple[list[str], list[str]]) -> None:
    assert list_flips(compare(run_of({"c": new}), run_of({"c": old}))) == found


def test_the_order_of_failing_trials_is_ignored() -> None:
    old = {f"c{index}": "PPF" for index in range(20)}
    comparison = compare(run_of(dict.fromkeys(old, "FPP")), run_of(old))
    counts = build_totals(comparison)
    assert list_flips(comparison) == ([], [])
    assert (counts.flips.newly_failing, counts.flips.newly_passing, counts.paired, counts.change.delta) == (
        0,
        0,
        20,
        0.0,
    )


def test_the_pass_rate_changes_by_parts_of_cases() -> None:
    counts = build_totals(compare(run_of({"a": "PPF", "b": "F"}), run_of({"a": "PPP", "b": "P"})))
    assert counts.change.delta == pytest.approx((-1 / 3 - 1) / 2)


def test_the_rows_of_a_flip_are_trials_that_show_it() -> None:
    comparison = compare(run_of({"c": "PFF"}), run_of({"c": "FPP"}))
    (flip,) = comparison.newly_failing
    assert (flip.row, flip.base_row) == (1, 1)


def find_go_failures(base: dict[str, str], run: dict[str, str], sdk: str | None = "junit") -> list[tuple[str, str]]:
    """The tests that fail now and passed before, each with the case that stands for it in the baseline."""
    comparison = compare(run_of(run, sdk), run_of(base, sdk))
    assert comparison.base is not None
    hashes, base_hashes = (side.suites[0].columns.hashes for side in (comparison.run, comparison.base))
    return [(hashes[flip.row], base_hashes[flip.base_row]) for flip in comparison.newly_failing]


def test_a_test_of_go_passed_if_all_its_subtests_did() -> None:
    """A test with subtests is in the file only if it fails by itself."""
    base = {"other": "P", "pkg::TestA/x": "P", "pkg::TestA/y": "P", "pkg::TestB/x": "P"}
    assert find_go_failures(base, {"pkg::TestA": "F"}) == [("pkg::TestA", "pkg::TestA/x")]
    assert find_go_failures(base, {"pkg::TestC": "F"}) == []
    assert find_go_failures(base, {"pkg::TestA": "P"}) == []
    assert find_go_failures(base, {"pkg::TestA": "F"}, sdk=None) == [], "only result files of Go have subtests"


@pytest.mark.parametrize("outcome", "FE")
def test_a_test_of_go_with_a_failed_subtest_had_failed(outcome: str) -> None:
    base = {"TestA/x": "P", "TestA/y": outcome, "TestB/deep/x": "P"}
    assert find_go_failures(base, {"TestA": "F"}) == []
    assert find_go_failures(base, {"TestB": "F", "TestB/deep": "F"}) == [
        ("TestB", "TestB/deep/x"),
        ("TestB/deep", "TestB/deep/x"),
    ]


@pytest.mark.parametrize("name", ["Testing/x", "test/x", "pkg/TestA"])
def test_other_names_with_slashes_are_no_subtests_of_go(name: str) -> None:
    parent = name.rpartition("/")[0]
    assert find_go_failures({name: "P"}, {parent: "F"}) == []


def test_only_failures_of_the_same_evaluators_are_flips() -> None:
    """A case that fails in an evaluator that changed, and in no other, is left out on both sides."""

    def run(prompt: str, scores: dict[str, tuple[float, float]], *more: str) -> Run:
        columns = Columns()
        for case, (same, changed) in scores.items():
            given = {"same": same, "changed": changed, **dict.fromkeys(more, 0.0)}
            evaluations = {name: Evaluation(score, Threshold(gte=1.0)) for name, score in given.items()}
            columns.add(CaseResult(0, case, evaluations=evaluations))
        infos = {name: EvaluatorInfo(name) for name in ("same", *more)}
        infos["changed"] = EvaluatorInfo("changed", Fingerprint(prompt=prompt))
        suite = SuiteResult("s", "s", evaluators=infos, complete=True, trials=Trials(columns))
        return Run("run", 0.0, RunEnd(1.0, complete=True), RunCode("0"), suites=(suite,))

    passed = {"a": (1.0, 1.0), "b": (1.0, 1.0), "c": (1.0, 1.0)}
    failed = {"a": (0.0, 1.0), "b": (1.0, 0.0), "c": (0.0, 0.0)}
    assert list_flips(compare(run("p", failed), run("p", passed))) == (["a", "b", "c"], [])
    assert list_flips(compare(run("q", failed), run("p", passed))) == (["a", "c"], [])
    assert list_flips(compare(run("q", passed), run("p", failed))) == ([], ["a", "c"])
    assert list_flips(compare(run("p", passed, "new"), run("p", passed))) == ([], [])


def test_subtests_of_go_are_known_up_to_a_depth() -> None:
    parts = ["TestA", *(f"s{depth}" for depth in range(1, 30))]
    names = ["/".join(parts[:end]) for end in range(1, 30)]
    found = find_go_failures({"/".join(parts): "P"}, dict.fromkeys(names, "F"))
    assert [name for name, _ in found] == names[:19]
