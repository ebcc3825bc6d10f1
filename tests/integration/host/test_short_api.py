"""Suites of `evaluate` under the command line: found, run, compared with a base, and gated."""

from __future__ import annotations

import sys

from tests.integration.host.conftest import Project

SUITE = """
from scoregate import evaluate
from scoregate.scorers import contains


def answer(question):
    ANSWER


def checks(output):
    return {"polite": True, "brief": 20 / len(output)}


evaluate(
    "opening-hours",
    data=[{"input": "When do you open?", "expected": "9"}, {"input": "Until when?", "expected": "17"}],
    task=answer,
    scorers=[contains(), lambda output: len(output) < 200, checks],
)
"""


def suite(answer: str) -> str:
    return SUITE.replace("ANSWER", answer)


def test_a_suite_is_found_run_and_compared_with_its_base(project: Project) -> None:
    project.write("evals/eval_hours.py", suite('return "We are open from 9 to 17."'))
    listed = project.scoregate("list")
    assert "evals/eval_hours.py:14 [python] opening-hours" in listed.output
    base = project.scoregate("run", "--baseline", "none")
    assert (base.exit_code, base.statuses) == (0, {"passed": 2})
    assert sorted(base.run["suites"][0]["evaluators"]) == [
        "checks.brief",
        "checks.polite",
        "contains",
        "len(output) < 200",
    ]
    base.out.rename(project.root / "base")
    project.write("evals/eval_hours.py", suite('return "We are open from 9 to 18."'))
    changed = project.scoregate("run", "--baseline", "base")
    assert changed.exit_code == 1
    assert "1 newly failing" in changed.output
    assert "missing: 17" in changed.comment
    assert "not comparable" not in changed.output, "the scorers have the same fingerprints"


def test_a_suite_that_measures_nothing_is_never_green(project: Project) -> None:
    project.write("evals/eval_hours.py", suite('raise RuntimeError("no line")'))
    broken = project.scoregate("run", "--baseline", "none")
    assert (broken.exit_code, broken.statuses) == (3, {"errored": 2})
    project.write(
        "evals/eval_hours.py",
        suite('return "From 9, every day of the week."').replace('"expected": "17"', '"expected": "9", "id": []'),
    )
    invalid = project.scoregate("run", "--baseline", "none")
    assert (invalid.exit_code, invalid.statuses) == (3, {"passed": 1})
    assert "case 2: its id must be a text or a whole number, not []" in " ".join(invalid.output.split())


def test_a_suite_runs_under_exec(project: Project) -> None:
    project.write("evals/eval_hours.py", suite('return "We are open from 9 to 17."'))
    ran = project.scoregate("exec", "--baseline", "none", "--", sys.executable, "evals/eval_hours.py")
    assert (ran.exit_code, ran.statuses) == (0, {"passed": 2})
