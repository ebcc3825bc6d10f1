"""A test set on several endpoints: each result is compared with that of the same endpoint."""

from __future__ import annotations

import json
import re

import pytest
from tests.integration.host.conftest import Project

BOTS = """
def a(input): return "We open at 9."
def b(input): return "Closed."
def broken(input): return "Closed."
"""
SCRIPT = """
from scoregate.entities import Endpoint, Prompt, Test, TestSet
from scoregate.metrics import metric

@metric("ok", "binary")
def ok(input, output): return {"score": "9" in output}

tests = [Test(category="S", topic="H", behavior="A", prompt=Prompt(content=f"When, {n}?")) for n in range(20)]
hours = TestSet(id="hours", name="Hours", tests=tests)
hours.push()
for name, function in CALLS:
    endpoint = Endpoint(name=name, connection_type="SDK", function=f"bots:{function}")
    endpoint.push()
    hours.execute(endpoint, metrics=[ok])
"""


@pytest.fixture
def team(project: Project) -> Project:
    project.write("bots.py", BOTS)
    project.write("scoregate.toml", "min_pass_rate = 0\nfail_on_regression = true\n")
    return project


def run(project: Project, *calls: str, baseline: str = "base", exit_code: int) -> list[str]:
    """Execute the set on endpoints such as `A=broken`; returns the labels of the suites."""
    pairs = [(name, function or name.lower()) for name, _, function in (each.partition("=") for each in calls)]
    project.write("evals/eval_hours.py", SCRIPT.replace("CALLS", repr(pairs)))
    outcome = project.scoregate("run", "--baseline", baseline)
    assert outcome.exit_code == exit_code, outcome.output
    if baseline == "none":
        outcome.out.rename(project.root / "base")
        return []
    return [suite["label"] for suite in outcome.result["suites"]]


def test_the_order_of_endpoints_changes_nothing(team: Project) -> None:
    run(team, "A", "B", baseline="none", exit_code=0)
    assert run(team, "B", "A", exit_code=0) == ["Hours [target=B]", "Hours [target=A]"]
    run(team, "B", "A=broken", exit_code=1)


def test_a_new_endpoint_is_not_compared_with_another_one(team: Project) -> None:
    run(team, "A", baseline="none", exit_code=0)
    run(team, "C=a", "A=broken", exit_code=1)
    run(team, "C=broken", "A", exit_code=0)


def test_a_renamed_endpoint_is_compared_and_keeps_its_label(team: Project) -> None:
    run(team, "A", baseline="none", exit_code=0)
    assert run(team, "Renamed=a", exit_code=0) == ["Hours"]
    assert run(team, "Renamed=broken", exit_code=1) == ["Hours"]


def test_an_endpoint_that_is_gone_is_reported(team: Project) -> None:
    run(team, "A", "B", baseline="none", exit_code=0)
    run(team, "A", "C=a", exit_code=3)


def test_one_endpoint_twice_can_not_be_measured(team: Project) -> None:
    project = team
    run(project, "A", baseline="none", exit_code=0)
    run(project, "A", "A=broken", exit_code=3)
    output = (project.root / "scoregate-out" / "comment.md").read_text()
    assert "a suite with this name ran before (evals/eval_hours.py:14); give each a name of its own" in output


def test_a_base_of_an_older_version_is_compared(team: Project) -> None:
    """It records no endpoint."""
    run(team, "A", baseline="none", exit_code=0)
    path = team.root / "base" / "run" / "run.json"
    stored = path.read_text(encoding="utf-8")
    assert json.loads(stored)["suites"][0]["params"] == {"target": "A"}
    path.write_text(re.sub(r'"params": ?\{"target": ?"A"\}', '"params":null', stored), encoding="utf-8")
    run(team, "A", exit_code=0)
    run(team, "A=broken", exit_code=1)
