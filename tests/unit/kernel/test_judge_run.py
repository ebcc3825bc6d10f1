"""A run is judged by settings and a baseline: what weakens the comparison never makes it green."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.runs import change_run
from tests.unit.kernel.builders import ExampleSuite, run_of, scored

from scoregate.features.steps import load_steps
from scoregate.kernel.judge.judge import judge
from scoregate.kernel.judge.judgement import Baseline, ComparedSides, Judged
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.model import PolicySource
from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.runs.run import Run

BY_BASE = Settings(min_pass_rate=0.9, policy_from=PolicySource.BASE)
UNREADABLE = Baseline(None, "the artifact can't be read", unreadable=True)


def make_run(passing: int, settings: Settings | None = None, **fields: Any) -> Run:
    """A run of sixty cases, with the policy of its settings."""
    suite = ExampleSuite(scored(*[1.0] * passing, *[0.0] * (60 - passing)), **fields)
    return change_run(run_of(suite), commit="a1b2c3d4", policy=(settings or Settings()).policy().to_record())


def list_failed(result: Judged) -> list[tuple[str, str]]:
    return [(each.rule, each.origin) for each in result.verdict.failed]


@pytest.mark.parametrize(
    "table",
    [
        {"max_drop": 0.1},
        {"max_drop": {"e": 0.1}},
        {"fail_on_regression": True},
        {"fail_on_critical": True},
        {"max_cost_ratio": 1.5},
        {"suites": {"demo": {"fail_on_regression": True}}},
    ],
)
def test_settings_with_a_relative_gate_and_an_unreadable_baseline_are_unmeasurable(table: dict[str, Any]) -> None:
    run = make_run(60, tags={"c0": ("critical",)})
    settings = Settings.model_validate(table)
    result = judge(ComparedSides(run, UNREADABLE, settings), load_steps)
    assert (result.exit_code, list_failed(result)) == (3, [("base readable", "always")])
    assert judge(ComparedSides(run, Baseline(None, "no run of main was found"), settings), load_steps).exit_code == 0
    assert judge(ComparedSides(run, UNREADABLE, Settings()), load_steps).exit_code == 0


def test_a_change_cannot_lower_the_limits_of_the_baseline() -> None:
    base, run = make_run(60, BY_BASE), make_run(50)
    for own in (Settings(min_pass_rate=0.0), Settings(min_pass_rate=0.0, severity={"pass_rate": "off"})):
        result = judge(ComparedSides(run, Baseline(base, "main"), own), load_steps)
        assert [rule for rule, _ in list_failed(result)] == ["pass rate"]
        assert result.exit_code == 1
        assert any("min_pass_rate" in change and "not applied" in change for change in result.verdict.policy_changes)
        alone = judge(
            ComparedSides(run, Baseline(replace(base, policy=Settings().policy().to_record()), "main"), own), load_steps
        )
        assert alone.exit_code == 0, "no side lets the baseline judge"


def test_a_change_cannot_lower_the_thresholds_of_the_baseline() -> None:
    base = make_run(60, BY_BASE)
    lowered = make_run(60, threshold=Threshold(gte=0.4))
    result = judge(ComparedSides(lowered, Baseline(base, "main"), Settings(min_pass_rate=0.9)), load_steps)
    assert (result.exit_code, [rule for rule, _ in list_failed(result)]) == (1, ["evaluators unchanged"])
    raised = make_run(60, threshold=Threshold(gte=0.6))
    assert judge(ComparedSides(raised, Baseline(base, "main"), Settings(min_pass_rate=0.9)), load_steps).exit_code == 0
    plain = replace(base, policy=Settings().policy().to_record())
    assert (
        judge(ComparedSides(lowered, Baseline(plain, "main"), Settings(min_pass_rate=0.9)), load_steps).exit_code == 0
    )


def test_a_missing_policy_of_the_baseline_is_unmeasurable() -> None:
    run = make_run(60)
    for baseline in (Baseline(None, "no run of main was found"), Baseline(replace(make_run(60), policy={}), "main")):
        result = judge(ComparedSides(run, baseline, BY_BASE), load_steps)
        assert (result.exit_code, list_failed(result)) == (3, [("policy available", "policy_from = base")])
    assert judge(ComparedSides(run, Baseline(make_run(60, BY_BASE), "main"), BY_BASE), load_steps).exit_code == 0


def test_open_trials_leave_a_run_unmeasurable_whatever_else_it_passes() -> None:
    run, base = make_run(60, complete=False), make_run(60)
    for settings in (Settings(), Settings(min_pass_rate=0.0, max_error_rate=1.0)):
        result = judge(ComparedSides(run, Baseline(base, "main"), settings), load_steps)
        assert (result.exit_code, list_failed(result)) == (3, [("suite finished", "always")])
