"""`--repeats auto`: more trials only of the cases that differ, on both sides."""

from __future__ import annotations

import json

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


VARIANTS = """
from scoregate import evaluate

FAILING = {"a": range(0), "b": range(0), "c": range(0)}
evaluate(
    "bot",
    data=[{"id": f"c{n}", "input": n} for n in range(20)],
    task={name: (lambda input, failing=failing: input not in failing) for name, failing in FAILING.items()},
    scorers=[lambda output: output],
)
"""


def change_variants(project: Project) -> None:
    """The change fails two or three cases of each variant, and other cases in each."""
    project.write("scoregate.toml", "min_pass_rate = 0\n")
    project.write("evals/variants.py", VARIANTS)
    project.commit("base")
    project.git("checkout", "-qb", "change")
    ranges = ("range(3)", "range(5, 8)", "range(10, 12)")
    text = VARIANTS
    for each in ranges:
        text = text.replace("range(0)", each, 1)
    project.write("evals/variants.py", text)
    project.commit("change")


def test_the_budget_counts_the_trials_of_all_variants(project: Project) -> None:
    change_variants(project)
    for budget, trials in ("0.1", 0), ("0.4", 24), ("1", 60):
        outcome = project.scoregate(
            "run", "--repeats", "auto", "--baseline", "rerun:main", SCOREGATE_REPEATS_BUDGET=budget
        )
        assert f"--repeats auto: {trials} extra trials" in " ".join(outcome.run["notices"]), outcome.output


def test_variants_that_are_not_selected_do_not_run_again(project: Project) -> None:
    change_variants(project)
    for words in (("--repeats", "auto"), ("--confirm", "all")):
        outcome = project.scoregate("run", "-k", "task=a", *words, "--baseline", "rerun:main")
        folders = [*outcome.out.glob("run/extra-*"), *outcome.out.glob("confirm-*")]
        assert folders, outcome.output
        for folder in (*folders, *outcome.out.glob("base/extra-*")):
            run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            assert [each["label"] for each in run["suites"]] == ["bot [task=a]"]


def test_a_base_that_cannot_run_is_reported(project: Project) -> None:
    outcome = run_change(project)
    assert "needs `--baseline rerun`" in " ".join(outcome.run["notices"])
