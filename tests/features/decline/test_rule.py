"""The gate of `max_decline`, and its judgement from a stored run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from tests.runs import change_run
from tests.unit.kernel.builders import ExampleSuite, run_of, scored

from scoregate.features.decline.keys import COMPARED, EARLIER, STORED
from scoregate.features.decline.rule import CHECK
from scoregate.features.decline.step import DeclineStep
from scoregate.features.steps import load_steps
from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.gate import Verdict, evaluate_gates
from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.judge.archive import RUN_FILE, RunWriter, amend_run, read_run
from scoregate.kernel.judge.judge import judge
from scoregate.kernel.judge.judgement import Baseline, ComparedSides
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import BaseReference, Run
from scoregate.kernel.types.slots import NO_SLOTS

PASSED, FAILED, UNMEASURABLE = Conclusion.PASSED, Conclusion.FAILED, Conclusion.UNMEASURABLE


def run_on(scores: Sequence[float], run: str = "base") -> Run:
    return change_run(run_of(ExampleSuite(scored(*scores), threshold=None)), id=run, commit="abc")


def make_run(passing: int, cases: int = 100, *, commit: str | None = None) -> Run:
    scores = [1.0] * passing + [0.0] * (cases - passing)
    return change_run(run_of(ExampleSuite(scored(*scores), threshold=None)), commit=commit)


def list_rule(found: Verdict, rule: str) -> list[Finding]:
    return [each for each in found.findings if each.rule == rule]


def compare_with_earlier(
    run: Run, base: Run, earlier: Run | None, note: str, *, unreadable: bool = False
) -> Comparison:
    past = compare(run, earlier, note, unreadable=unreadable)
    return replace(compare(run, base), slots=NO_SLOTS.put(COMPARED, past))


def find_declines(comparison: Comparison, **limits: float) -> list[Finding]:
    policy = Policy(Limits(more={"max_decline": limits or {"*": 0.05}}, origin={"max_decline.*": "scoregate.toml"}))
    return list_rule(evaluate_gates(comparison, policy, checks=(CHECK,)), "decline")


def test_drops_that_add_up_are_a_decline() -> None:
    run, base, earlier = make_run(80), make_run(84), make_run(92, commit="a1b2c3d4e5")
    comparison = compare_with_earlier(run, base, earlier, "3 runs ago")
    assert comparison.rows[0].label is not RowLabel.WORSE
    (found,) = find_declines(comparison)
    assert (found.conclusion, found.limit, found.bound) == (FAILED, "a drop of at most 0.050", 0.05)
    assert (found.origin, found.evaluator) == ("scoregate.toml", "e")
    assert found.value.startswith("−0.120 [")
    assert found.value.endswith(", since a1b2c3d (3 runs ago)")
    assert [each.conclusion for each in find_declines(comparison, e=0.12)] == [PASSED]
    assert find_declines(comparison, other=0.01) == []
    unnamed = compare_with_earlier(run, base, change_run(earlier, commit=None), "3 runs ago")
    assert find_declines(unnamed)[0].value.endswith(", since the earlier run (3 runs ago)")


def test_a_decline_within_noise_passes() -> None:
    run, earlier = run_on([0.0] * 9 + [1.0] * 91), run_on([1.0] * 97 + [0.0] * 3)
    comparison = compare_with_earlier(run, run, earlier, "3 runs ago")
    (found,) = find_declines(comparison)
    assert (found.conclusion, found.uncertain) == (PASSED, True)
    assert ": above the limit, within noise" in found.value
    (small,) = find_declines(compare_with_earlier(make_run(92), make_run(92), make_run(95), "3 runs ago"))
    assert (small.conclusion, small.uncertain) == (PASSED, False)


def test_a_decline_without_an_earlier_run() -> None:
    run = make_run(80)
    (unreadable,) = find_declines(compare_with_earlier(run, run, None, "it can't be read", unreadable=True))
    assert (unreadable.conclusion, unreadable.value) == (UNMEASURABLE, "it can't be read")
    assert (unreadable.origin, unreadable.suite) == ("scoregate.toml", "demo")
    assert find_declines(compare_with_earlier(run, run, None, "there are 2 runs")) == []
    assert find_declines(compare(run, run)) == []
    declined = compare_with_earlier(run, run, make_run(100), "3 runs ago")
    assert evaluate_gates(declined, Policy(Limits()), checks=(CHECK,)).exit_code == 0


def test_a_limit_that_matches_no_evaluator_is_reported() -> None:
    limits = Limits(more={"max_decline": {"accuracy": 0.1}})
    verdict = evaluate_gates(compare(make_run(80), None), Policy(limits), checks=(CHECK,))
    (found,) = list_rule(verdict, "limits apply")
    assert found.value == "accuracy in max_decline matches no scorer"


def test_small_drops_that_add_up_fail_a_run() -> None:
    settings = Settings(min_pass_rate=0.0, max_decline=0.05)
    run, base, earlier = make_run(48), Baseline(make_run(52), "main"), make_run(60)
    for past, exit_code, failed in (
        (Baseline(earlier, "3 runs ago"), 1, ["decline"]),
        (Baseline(None, "a 503", unreadable=True), 3, ["decline"]),
        (Baseline(None, "main has 2 runs"), 0, []),
        (Baseline(base.run, "1 run ago"), 0, []),
    ):
        result = judge(ComparedSides(run, base, settings, NO_SLOTS.put(EARLIER, past)), load_steps)
        assert (result.exit_code, [each.rule for each in result.verdict.failed]) == (exit_code, failed)
    assert judge(ComparedSides(run, base, settings), load_steps).exit_code == 0


@pytest.mark.parametrize(
    ("stored", "note"),
    [
        ('{"id": "r1", "name": "main@a1b2c3d"}', "the earlier run main@a1b2c3d isn't stored with this one"),
        ('{"name": 3}', "the stored run is damaged: declined_from"),
    ],
)
def test_a_stored_run_is_unmeasurable_without_the_earlier_run(tmp_path: Path, stored: str, note: str) -> None:
    with RunWriter(tmp_path) as writer:
        writer.finish(make_run(80))
    path = tmp_path / RUN_FILE
    path.write_text(path.read_text().replace("{", f'{{"declined_from": {stored}, "of_a_newer_version": [1],', 1))
    run = read_run(tmp_path)
    settings = Settings(max_decline=0.05)
    slots = anyio.run(DeclineStep().restore_sides, run, tmp_path, settings, NO_SLOTS)
    result = judge(ComparedSides(run, Baseline(None, "none"), settings, slots), load_steps)
    (found,) = list_rule(result.verdict, "decline")
    assert (found.conclusion, found.value[: len(note)]) == (UNMEASURABLE, note)
    amend_run(tmp_path, run)
    assert json.loads(path.read_text())["of_a_newer_version"] == [1]
    amend_run(tmp_path, replace(run, slots=run.slots.put(STORED, BaseReference("r2", "main@b"))))
    assert read_run(tmp_path).slots.get(STORED) == BaseReference("r2", "main@b")
