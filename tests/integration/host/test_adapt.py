"""`--repeats auto`: more trials only of the cases that differ, on both sides."""

from __future__ import annotations

from tests.integration.host.conftest import Project, Ran, suite

FLAKY = """
import hashlib, os, time
def fn(case):
    if case.input in ("good 3", "good 4"):
        return case.input if SIDE else "no"
    return case.input
"""


def run_change(project: Project, *flags: str) -> Ran:
    """The change fails two of twenty cases that the base passes."""
    project.write("scoregate.toml", "min_pass_rate = 0\n")
    project.write("evals/demo.py", suite(FLAKY.replace("SIDE", "True"), fn="fn", good=20))
    project.commit("base")
    project.git("checkout", "-qb", "change")
    project.write("evals/demo.py", suite(FLAKY.replace("SIDE", "False"), fn="fn", good=20))
    project.commit("change")
    return project.scoregate("run", "--repeats", "auto", *flags)


def test_only_cases_that_differ_are_repeated_and_savings_shown(project: Project) -> None:
    outcome = run_change(project, "--baseline", "rerun")
    assert outcome.exit_code == 0, outcome.output
    text = " ".join(outcome.run["notices"])
    assert "16 extra trials, 144 fewer than the 160 that repeating every case takes" in text
    assert outcome.statuses == {"passed": 18, "failed": 2}
    extra = outcome.out / "run" / "extra-1"
    assert (extra / "cases.jsonl.gz").is_file()
    assert outcome.result["rows"][0]["worse"] == 2


def test_a_stored_run_includes_its_extra_trials(project: Project) -> None:
    outcome = run_change(project, "--baseline", "rerun")
    second = project.scoregate("report", str(outcome.out), "--baseline", str(outcome.out / "base"), "--format", "json")
    assert second.exit_code == 0
    assert '"worse": 2' in second.output


def test_a_budget_limits_the_extra_trials(project: Project) -> None:
    project.write("pyproject.toml", "")
    outcome = run_change(project, "--baseline", "rerun")
    assert outcome.exit_code == 0
    tight = project.scoregate("run", "--repeats", "auto", "--baseline", "rerun", SCOREGATE_REPEATS_BUDGET="0.3")
    assert "4 extra trials" in " ".join(tight.run["notices"])


def test_cases_in_quarantine_are_not_repeated(project: Project) -> None:
    entry = '[[quarantine]]\ncase = "good 3"\nowner = "bo"\nreason = "the clock"\nuntil = 2999-12-31\n'
    project.write(".scoregate/quarantine.toml", entry)
    outcome = run_change(project, "--baseline", "rerun")
    assert "8 extra trials, 152 fewer" in " ".join(outcome.run["notices"])
    assert outcome.result["rows"][0]["worse"] == 1


def test_a_base_that_cannot_run_is_reported(project: Project) -> None:
    outcome = run_change(project)
    assert "needs `--baseline rerun`" in " ".join(outcome.run["notices"])
