"""Stored test configs in the container: a nightly job, and a pull request that edits what they are made of."""

from __future__ import annotations

import html
import json
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.container.conftest import Action
from tests.e2e.container.test_stories import UPLOADED
from tests.e2e.container.workflow import Workflow
from tests.fakes.fixtures import github
from tests.fakes.github import GitHub, events
from tests.fakes.openai import OpenAIServer

from scoregate import Client

__all__ = ["github"]
JUDGES = """
from scoregate.judges import BinaryResponse, Judge


class Matches(Judge[BinaryResponse]):
    def score(self, data):
        return BinaryResponse(value=data["output"] == data["expected"], reason="compared")
"""
BOT = """
def answer(input):
    return input.replace("question", "answer")


def passes(fields, scorers):
    return all(scorer.value == "Yes" for scorer in scorers)
"""
SETTINGS = """
[[configs]]
name = "nightly-regression"
agent = "bot:answer"
pass_condition = "bot:passes"
assert_test = true
"""
# What the extra `judges` brings: the environment gets our wheel alone.
REQUIREMENTS = "filelock\ngenai-prices\njinja2\nopenai\npyyaml\ntomlkit\n"


@pytest.fixture
def workflow(github: GitHub, action: Action, tmp_path: Path) -> Workflow:
    """A repository with a dataset of twelve rows, an agent, and a suite that the test config is no part of."""
    new_workflow = Workflow.new(github, tmp_path)
    new_workflow.action = action
    for name, text in {"my_judges.py": JUDGES, "bot.py": BOT, "scoregate.toml": SETTINGS}.items():
        new_workflow.project.write(name, text)
    rows = [{"input": f"question {number}", "expected": f"answer {number}"} for number in range(1, 13)]
    Client(store=new_workflow.project.root).datasets.create("golden-set", examples=rows)
    new_workflow.commit()
    return new_workflow


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer.start() as running:
        yield running


def step(env: dict[str, str] | None = None, **inputs: str) -> list[dict[str, Any]]:
    """The step of the action and the one after it, that uploads the run."""
    return [{"uses": "scoregate/scoregate@v1", "id": "evals", "with": inputs, "env": env or {}}, *UPLOADED]


def run_of(workflow: Workflow) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((workflow.project.root / "scoregate-out" / "result.json").read_text())
    return content


def test_a_nightly_config_fails_on_assert_test(workflow: Workflow, monkeypatch: pytest.MonkeyPatch) -> None:
    sys.modules.pop("my_judges", None)
    monkeypatch.syspath_prepend(workflow.project.root)
    client = Client(store=workflow.project.root)
    client.judges.register("my_judges:Matches", "matches")
    client.offline_tests.create_config("nightly-regression", "golden-set", ["matches"])
    sys.modules.pop("my_judges")
    workflow.commit()
    nightly = step(config="nightly-regression", key="nightly")
    first = workflow.steps(events.schedule(workflow.repo), nightly)
    assert (first.exit_code, first.outputs["conclusion"]) == (0, "passed"), first.log
    assert not first.unexpected_inputs

    workflow.branch()
    workflow.project.write("bot.py", BOT.replace('"answer")', '"answer").replace("7", "8")'))
    workflow.commit()
    pull = workflow.open_pull_request()
    second = workflow.steps(events.pull_request(pull), nightly[:1])
    assert (second.exit_code, second.outputs["conclusion"]) == (1, "failed"), second.log
    (comment,) = pull.comments
    assert "**assert_test** of <code>nightly-regression</code>" in comment.body
    assert "question 7" in comment.body
    assert "1 newly failing" in comment.body
    cases = ET.parse(workflow.project.root / second.outputs["junit-path"]).getroot().iter("testcase")
    failed = [case for case in cases if case.find("failure") is not None]
    (row,) = [case for case in failed if case.get("classname") == "nightly-regression"]
    assert (row.get("name"), row.get("file")) == ("question 7", ".scoregate/configs/nightly-regression.toml")
    assert [suite["id"] for suite in run_of(workflow)["suites"]] == ["nightly-regression"]


def test_a_pull_request_that_edits_a_dataset_and_a_judges_prompt(workflow: Workflow, server: OpenAIServer) -> None:
    client = Client(store=workflow.project.root)
    client.judges.create("helpfulness", "Is this helpful?\nQuestion: {{input}}\nAnswer: {{output}}")
    client.judges.create("politeness", "Is this polite? {{output}}")
    client.offline_tests.create_config("nightly-regression", "golden-set", ["helpfulness", "politeness"])
    judge = workflow.project.root / ".scoregate" / "judges" / "helpfulness.toml"
    judge.write_text(judge.read_text().replace('version = "0.0"', 'version = "1.2"'))
    assert [version.label for version in client.judges.resolve(["helpfulness"])] == ["helpfulness 1.2"]
    workflow.project.write("requirements.txt", REQUIREMENTS)
    workflow.commit()
    evals = step(server.environment, suite="nightly-*")
    workflow.permissions = {"contents": "read", "actions": "read", "pull_requests": "write"}
    first = workflow.steps(events.push(workflow.repo), evals)
    assert first.exit_code == 0, first.log

    workflow.branch()
    rows = workflow.project.root / ".scoregate" / "datasets" / "golden-set" / "rows.jsonl"
    rows.write_text(rows.read_text().replace("question 12", "question 13"))
    judge.write_text(judge.read_text().replace("Is this helpful?", "Is this helpful and short?"))
    diff = workflow.project.git("diff", "--unified=0")
    assert [line for line in diff.splitlines() if line[:2] in ("-{", "+{", "-I", "+I")] == [
        '-{"input": "question 12", "expected": "answer 12"}',
        '+{"input": "question 13", "expected": "answer 12"}',
        "-Is this helpful?",
        "+Is this helpful and short?",
    ]
    workflow.commit()
    pull = workflow.open_pull_request()
    second = workflow.steps(events.pull_request(pull), evals[:1])
    assert second.exit_code == 0, second.log
    (comment,) = pull.comments
    comment_text = html.unescape(comment.body)
    assert "not comparable" in comment_text
    assert "judge helpfulness 1.2 -> 1.3" in comment_text, second.log
    assert "1 case added, 1 case removed since the baseline" in comment_text
