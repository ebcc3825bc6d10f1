"""Shards measure the drift control of their own cases, and `merge` corrects as one machine does."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from tests.integration.host.conftest import Project, Ran

CASES, CONTROL = 120, 60
# A variable plays the provider; the change of the prompt plays a regression.
SUITE = """
import os

from scoregate import evaluate
from scoregate.scorers import contains

failing = {failing} + 2 * (os.environ["PROVIDER"] == "worse")


def ask(input):
    return "no idea" if int(input) % 10 < failing else f"capital {{input}}"


data = [{{"input": str(n), "expected": f"capital {{n}}"}} for n in range({cases})]
evaluate("{name}", data=data, task=ask, scorers=[contains()])
"""
SETTINGS = 'min_pass_rate = 0\nfail_on_regression = true\ndrift_control = 0.5\nbaseline = "base"\n'


@pytest.fixture
def planted(project: Project) -> Project:
    """A base with a long suite and a short one, and a change of the notes."""
    project.write(".gitignore", "scoregate-out\nbase\nshards\nwhole\n.scoregate*\n__pycache__\n")
    project.write("scoregate.toml", SETTINGS)
    write_suite(project)
    project.write("evals/eval_few.py", SUITE.format(name="few", cases=10, failing=0))
    project.commit()
    base = project.scoregate("run", "--baseline", "none", "--out", "base", PROVIDER="usual")
    assert base.exit_code == 0, base.output
    path = project.root / "base/run/run.json"
    head = json.loads(path.read_text(encoding="utf-8"))
    for suite in head["suites"]:
        suite["duration_s"] = 900.0 if suite["id"] == "capitals" else 30.0
    path.write_text(json.dumps(head), encoding="utf-8")
    project.write("notes.md", "new")
    project.commit()
    return project


def write_suite(project: Project, failing: int = 1) -> None:
    project.write("evals/eval_capitals.py", SUITE.format(name="capitals", cases=CASES, failing=failing))


def run_shards(project: Project, of: int = 3, provider: str = "worse") -> None:
    planned = project.scoregate("plan", "--shards", str(of), "--output", "scoregate-out/partition.json")
    assert planned.exit_code == 0, planned.output
    for number in range(1, of + 1):
        options = ("--shard", f"{number}/{of}", "--partition", "scoregate-out/partition.json")
        shard = project.scoregate("run", *options, "--out", f"shards/{number}", PROVIDER=provider)
        assert shard.exit_code == 0, shard.output


def merge(project: Project) -> tuple[Ran, dict[str, Any]]:
    merged = project.scoregate("merge", "shards/*")
    return merged, {row["suite"]: row for row in merged.result["rows"]}


def test_merged_shards_correct_as_one_machine(planted: Project) -> None:
    complete = planted.scoregate("run", "--out", "whole", PROVIDER="worse")
    assert complete.exit_code == 0, complete.output
    rows = json.loads((planted.root / "whole/result.json").read_text(encoding="utf-8"))["rows"]
    expected = {row["suite"]: row for row in rows}
    run_shards(planted)
    merged, findings = merge(planted)
    assert merged.exit_code == 0, merged.output
    assert "Drift control: 65 cases ran again (0.5 of the cases of " in " ".join(merged.output.split())
    for suite, cases in (("capitals", CONTROL), ("few", 5)):
        for name in ("label", "mean", "base"):
            assert findings[suite][name] == expected[suite][name]
        for name in ("state", "label", "cases"):
            assert findings[suite]["drift"][name] == expected[suite]["drift"][name]
        assert findings[suite]["drift"]["cases"] == cases
    assert findings["capitals"]["drift"]["shift"] == pytest.approx(-0.2, abs=0.12)
    assert (findings["capitals"]["label"], findings["few"]["drift"]["state"]) == ("drift", "control too small")
    # The same cases are drawn again, each in one shard, and the merged run keeps its control.
    second = planted.scoregate("gate", "scoregate-out/run")
    assert second.exit_code == 0, second.output
    assert "explained by the provider's drift" in " ".join(second.output.split())


def test_a_regression_is_found_in_shards(planted: Project) -> None:
    write_suite(planted, failing=4)
    planted.commit()
    run_shards(planted, provider="usual")
    merged, findings = merge(planted)
    assert merged.exit_code == 1, merged.output
    assert (findings["capitals"]["label"], findings["capitals"]["drift"]["shift"]) == ("worse", 0)


def test_without_the_control_of_every_shard_nothing_is_corrected(planted: Project) -> None:
    run_shards(planted)
    path = planted.root / "shards/2/run/run.json"
    stored = path.read_text(encoding="utf-8")
    head = json.loads(stored)
    head["shard"]["no_control"] = "it was interrupted"
    path.write_text(json.dumps(head), encoding="utf-8")
    merged, findings = merge(planted)
    assert merged.exit_code == 1, merged.output
    assert findings["capitals"]["label"] == "worse"
    text = " ".join(merged.output.split())
    assert "The drift control is not complete, so nothing is corrected: in shard 2, it was interrupted." in text
    path.write_text(stored, encoding="utf-8")
    control = planted.root / "shards/2/run/control"
    control.rename(planted.root / "whole")
    merged, findings = merge(planted)
    assert (merged.exit_code, findings["capitals"]["label"]) == (1, "worse"), merged.output
    text = " ".join(merged.output.split())
    assert "is not complete, so nothing is corrected: the folder control of shard 2 is missing." in text
    (planted.root / "whole").rename(control)
    shutil.rmtree(planted.root / "shards/1")
    merged, _ = merge(planted)
    assert merged.exit_code in (1, 3), merged.output
    assert "so nothing is corrected: a shard is missing" in " ".join(merged.output.split())
    # A shard without what the others measured is refused.
    other = planted.scoregate(
        "run", "--shard", "1/3", "--partition", "scoregate-out/partition.json", "--out", "shards/1",
        PROVIDER="worse", SCOREGATE_DRIFT_CONTROL="0",
    )  # fmt: skip
    assert other.exit_code == 2, other.output
    assert "other settings: drift_control" in other.output


def test_a_failed_control_is_reported_once(planted: Project) -> None:
    planted.write("requirements.txt", "openai==9\n")
    planted.commit()
    run_shards(planted, of=2)
    merged, findings = merge(planted)
    assert merged.exit_code == 1, merged.output
    text = " ".join(merged.output.split())
    assert "in shard 1, requirements.txt changed, and the base would run with this change; 1 other shard" in text
    assert findings["capitals"]["label"] == "worse"
