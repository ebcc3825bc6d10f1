"""`scoregate run` and `exec` record tests of pytest, compare them, and apply the gates."""

from __future__ import annotations

import sys

from tests.integration.host.conftest import Project, Ran

TESTS = """
import pytest

ANSWERS = {answers}

@pytest.mark.parametrize("row", [{{"question": each}} for each in ANSWERS])
def test_answer(scoregate, row):
    answer = ANSWERS[row["question"]]
    scoregate.case(input=row["question"], expected="9")
    scoregate.output(answer)
    scoregate.score("polite", 0.9 if "!" in answer else 0.1)
    assert "9" in answer

@pytest.mark.scoregate(suite="health")
def test_health(): ...
"""
GOOD = {"When?": "At 9!", "Until when?": "From 9!", "Sunday?": "Not at 9!"}
PYTEST = (sys.executable, "-m", "pytest")
# Without the plug-ins that are installed, which take longer than the tests, the process of pytest is forked.
PLUGIN = {
    "PYTEST_PLUGINS": "scoregate.pytest_plugin",
    "PYTEST_ADDOPTS": "-p no:cacheprovider",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}


def write(project: Project, answers: dict[str, str], more: str = "") -> None:
    project.write("evals/test_bot.py", TESTS.format(answers=answers) + more)


def run(project: Project, *arguments: str) -> Ran:
    return project.scoregate(*arguments, **PLUGIN)


def counts(ran: Ran) -> dict[str, dict[str, int]]:
    return {suite["id"]: {k: n for k, n in suite["statuses"].items() if n} for suite in ran.run["suites"]}


def test_a_change_is_compared_and_gated(project: Project) -> None:
    write(project, GOOD)
    first = run(project, "run", "--baseline", "none")
    assert (first.exit_code, counts(first)) == (0, {"evals.test_bot": {"passed": 3}, "health": {"passed": 1}})
    (project.root / "scoregate-out" / "run").rename(project.root / "base")
    write(project, {"New?": "9!", **GOOD, "Sunday?": "Closed."})
    second = run(project, "run", "--baseline", "base")
    assert second.exit_code == 1, second.output
    assert counts(second) == {"evals.test_bot": {"passed": 3, "failed": 1}, "health": {"passed": 1}}
    assert "Sunday?" in second.comment
    assert "assert '9' in 'Closed.'" in second.comment
    totals = second.result["totals"]
    assert (totals["paired"], totals["newly_failing"]) == (4, 1), "the row at the start added one case"


def test_cases_are_selected(project: Project) -> None:
    write(project, GOOD | {"Sunday?": "Closed!"})
    assert run(project, "run", "--baseline", "none").exit_code == 1
    for arguments, expected in {
        ("evals", "--last-failed"): {"evals.test_bot": {"failed": 1}},
        ("evals/test_bot.py::health::test_health",): {"health": {"passed": 1}},
        ("evals", "-k", "row0 or health"): {"evals.test_bot": {"passed": 1}, "health": {"passed": 1}},
        ("evals", "--suite", "health"): {"health": {"passed": 1}},
    }.items():
        outcome = run(project, "run", *arguments, "--baseline", "none")
        assert counts(outcome) == expected, outcome.output
        assert outcome.exit_code == ("failed" in str(expected))
    missing = run(project, "run", "evals/test_bot.py::health::test_other", "--baseline", "none")
    assert missing.exit_code == 3
    assert "no suite or case of this name ran" in missing.output


def test_a_report_of_the_same_tests_is_not_counted_twice(project: Project) -> None:
    write(project, GOOD | {"Sunday?": "Closed."}, "def test_ordinary(): assert 1\n")
    command = ("--", *PYTEST, "-q", "--junitxml", "junit.xml", "evals")
    outcome = run(project, "exec", "--baseline", "none", "--junit", "junit.xml", *command)
    expected = {"evals.test_bot": {"passed": 2, "failed": 1}, "health": {"passed": 1}, "pytest": {"passed": 1}}
    assert (outcome.exit_code, counts(outcome)) == (1, expected), outcome.output
    # Without the plug-in, the names of suites in a report leave out nothing.
    project.write("copy.py", "import os, shutil, sys; shutil.copy('junit.xml', 'copy.xml'); sys.exit(1)\n")
    copied = run(project, "exec", "--baseline", "none", "--junit", "copy.xml", "--", sys.executable, "copy.py")
    assert counts(copied) == {"pytest": {"passed": 4, "failed": 1}}


def test_failures_that_are_not_recorded_make_the_run_unmeasurable(project: Project) -> None:
    write(project, GOOD, "def test_ordinary(): assert 0\n")
    outcome = run(project, "run", "--baseline", "none")
    assert outcome.exit_code == 3
    assert "exit code 1" in outcome.output


def test_exec_runs_pytest_with_workers(project: Project) -> None:
    write(project, GOOD | {"Sunday?": "Closed."})
    command = ("--", *PYTEST, "-p", "xdist", "-n", "2", "evals")
    outcome = run(project, "exec", "--baseline", "none", "--min-pass-rate", "0.5", *command)
    assert (outcome.exit_code, counts(outcome)["evals.test_bot"]) == (0, {"passed": 2, "failed": 1}), outcome.output
