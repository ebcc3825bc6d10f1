"""A category without a score is stored and shown, and decides through a pass condition alone."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET

import pytest
from tests.integration.host.conftest import Project

from scoregate import Client

JUDGES = """
from scoregate.judges import CategoricalResponse, Category, Judge


class Tone(CategoricalResponse):
    categories = [Category(value="kind"), Category(value="odd"), Category(value="cold", score=0)]


class Toned(Judge[Tone]):
    def score(self, data):
        return Tone(value=data["tone"], reason="heard")


def passes(fields, scorers):
    return scorers[0].value != "odd"
"""
FILE = ".scoregate/datasets/spoken/rows.jsonl"


@pytest.fixture
def labelled_project(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    project.write("my_judges.py", JUDGES)
    project.write("scoregate.toml", '[[configs]]\nname = "spoken"\n')
    sys.modules.pop("my_judges", None)
    monkeypatch.syspath_prepend(project.root)
    client = Client(store=project.root)
    rows = [{"input": f"question {number}", "tone": "odd" if number < 4 else "kind"} for number in range(1, 13)]
    client.datasets.create("spoken", examples=rows)
    client.judges.register("my_judges:Toned", "tone")
    client.offline_tests.create_config("spoken", "spoken", ["tone"])
    sys.modules.pop("my_judges")
    return project


def test_labels_are_counted_and_listed(labelled_project: Project) -> None:
    first = labelled_project.scoregate("run", "--baseline", "none", "--out", "first")
    assert first.exit_code == 0, first.output
    assert "kind 9, odd 3" in first.output
    rows = labelled_project.root / FILE
    rows.write_text(rows.read_text(encoding="utf-8").replace('"odd"', '"kind"', 2), encoding="utf-8")
    outcome = labelled_project.scoregate("run", "--baseline", "first/run")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.statuses == {"scored": 12}
    (row,) = outcome.result["rows"]
    assert (row["label"], row["state"]) == ("labels only", "held")
    assert (row["labels"], row["base_labels"]) == ({"kind": 11, "odd": 1}, {"kind": 9, "odd": 3})
    assert "kind 9, odd 3 | kind 11, odd 1" in outcome.comment
    cases = ET.fromstring((outcome.out / "junit.xml").read_text(encoding="utf-8")).iter("testcase")
    values = [item.get("value") for case in cases for item in case.iter("property") if item.get("name") == "label.tone"]
    assert sorted(filter(None, values)) == [*["kind"] * 11, "odd"]


def test_they_decide_through_a_pass_condition(labelled_project: Project) -> None:
    labelled_project.write("scoregate.toml", '[[configs]]\nname = "spoken"\npass_condition = "my_judges:passes"\n')
    outcome = labelled_project.scoregate("run", "--baseline", "none")
    assert outcome.exit_code == 1, outcome.output
    assert outcome.statuses == {"passed": 9, "failed": 3}
    assert "tone: odd" in outcome.comment


def test_a_judge_with_scores_for_some_categories_has_both(labelled_project: Project) -> None:
    rows = labelled_project.root / FILE
    rows.write_text(rows.read_text(encoding="utf-8").replace('"kind"', '"cold"', 5), encoding="utf-8")
    assert labelled_project.scoregate("run", "--baseline", "none", "--out", "first").exit_code == 0
    outcome = labelled_project.scoregate("run", "--baseline", "first/run")
    (row,) = outcome.result["rows"]
    assert (row["mean"], row["labels"]) == (0, {"kind": 4, "odd": 3})
    assert "without a score: kind 4, odd 3" in outcome.comment
    stored = json.loads((outcome.out / "run" / "run.json").read_text(encoding="utf-8"))["suites"][0]
    assert stored["statuses"]["scored"] == 12
