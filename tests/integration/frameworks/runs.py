"""The evals of one project, before and after a change: a row is inserted at the start, and one answer becomes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.docs.project import ROOT, Project

QUESTIONS = [f"What is the capital of country {letter}?" for letter in "abcdef"]
REGRESSION = QUESTIONS[2]
# Questions, and whether the answer is right.
Rows = list[tuple[str, bool]]
BASE: Rows = [(question, True) for question in QUESTIONS]
HEAD: Rows = [("What is new?", True), *((question, question != REGRESSION) for question in QUESTIONS)]
# Braintrust skips files that it can't load, and ends with 0, unless it is to stop.
RUN_BRAINTRUST = ("eval", "--no-send-logs", "--terminate-on-failure")
# Writes the evals of some rows, and returns the arguments of `scoregate exec`.
WriteEvals = Callable[[Project, Rows], list[str]]


def check_inserted_row(project: Project, write: WriteEvals, *, evaluator: str, fails: bool = True) -> None:
    """Record the evals before and after the change, and check that nothing but the change is reported.

    Args:
        project: has the framework's programs.
        write: writes the evals.
        evaluator: the evaluator that judges answers.
        fails: whether its scores have a threshold. Without one, scores are compared only.
    """
    project.environment["PYTHONPATH"] = str(ROOT / "src")
    before = execute(project, write(project, BASE), baseline="none", out="before")
    assert before.returncode == 0, before.stdout + before.stderr
    after = execute(project, write(project, HEAD), baseline="before", out="after")
    assert after.returncode == (1 if fails else 0), after.stdout + after.stderr
    result = read_json(project.folder / "after" / "result.json")
    (row,) = (each for each in result["rows"] if each["evaluator"] == evaluator)
    assert (row["label"] != "not comparable", row["added"], row["removed"], row["changed"]) == (True, 1, 0, 0), row
    assert (row["worse"], row["better"], row["n"]) == (1, 0, len(BASE)), row
    if fails:
        (failing,) = result["newly_failing"]
        assert REGRESSION in json.dumps(failing) or REGRESSION in after.stdout
        assert result["newly_passing"] == []
    suites = read_json(project.folder / "after" / "run" / "run.json")["suites"]
    assert [suite["cases"] for suite in suites] == [len(HEAD)]


def execute(project: Project, arguments: list[str], *, baseline: str, out: str) -> Any:
    """Run `scoregate exec`."""
    return project.run(["scoregate", "exec", "--baseline", baseline, "--out", out, *arguments])


def read_json(path: Path) -> Any:
    """The content of a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))
