"""Scripts that execute test sets, run by `scoregate run`: recorded, compared and gated like any suite."""

from __future__ import annotations

import json
from math import inf
from typing import Any

import pytest
from tests.fakes.chat_service import ChatService
from tests.integration.host.conftest import Project, Ran

SCRIPT = '''
from scoregate.entities import Endpoint, Prompt, Test, TestSet
from scoregate.metrics import metric


@metric("polite", "binary")
def polite(input, output):
    """Whether it says who is answered."""
    return {{"score": output.startswith("You"), "reason": output}}


endpoint = Endpoint(name="Chat", connection_type="REST", url="{url}/chat", retries=0)
endpoint.push()
questions = [f"question {{i}}" for i in range(8)]
tests = [Test(category="Support", topic="Hours", behavior="Answers", prompt=Prompt(content=q)) for q in questions]
test_set = TestSet(name="Opening Hours", tests=tests)
test_set.push()
result = test_set.execute(endpoint, metrics=[polite])
print("Execution started:", result["status"], result["pass_rate"])
'''
WITHOUT_PUSH = """
from scoregate.entities import Endpoint, Prompt, Test, TestSet
from scoregate.metrics import metric


@metric("any", "binary")
def anything(input, output):
    return {"score": True}


tests = [Test(category="a", behavior="b", prompt=Prompt(content="c"))]
endpoint = Endpoint(id="bot", name="bot", connection_type="SDK", function="builtins:ascii")
result = TestSet(id="hours", name="Hours", tests=tests).execute(endpoint, metrics=[anything])
print("done:", result["status"], result["test_count"])
"""


@pytest.fixture
def script(project: Project, chat_service: ChatService) -> Project:
    project.write("evals/hours.py", SCRIPT.format(url=chat_service.url))
    project.commit()
    return project


def cases(ran: Ran) -> list[dict[str, Any]]:
    import gzip

    with gzip.open(ran.out / "run" / "cases.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def test_a_script_is_found_and_recorded(script: Project, chat_service: ChatService) -> None:
    outcome = script.scoregate("run")
    assert outcome.exit_code == 0, outcome.output
    assert "Execution started: completed 1.0" in outcome.output
    (suite,) = outcome.run["suites"]
    assert (suite["id"], suite["origin"]) == ("Opening Hours", {"file": "evals/hours.py", "line": 18})
    assert outcome.statuses == {"passed": 8}
    assert sorted(case["name"] for case in cases(outcome)) == [f"question {i}" for i in range(8)]
    assert len(chat_service.asked()) == 8


def test_worse_answers_are_a_regression(script: Project, chat_service: ChatService) -> None:
    script.scoregate("run")
    (script.root / "scoregate-out").rename(script.root / "base-out")
    chat_service.answers("question [0-5]", "No idea.")
    outcome = script.scoregate("run", "--baseline", "base-out/run")
    assert outcome.exit_code == 1, outcome.output
    assert outcome.statuses == {"failed": 6, "passed": 2}
    assert "question 3" in outcome.comment
    assert "No idea." in outcome.comment


def test_an_endpoint_that_is_down_is_an_error_of_every_test(script: Project, chat_service: ChatService) -> None:
    chat_service.drop("POST", "/chat", times=inf)
    outcome = script.scoregate("run")
    assert outcome.exit_code == 3, outcome.output
    assert outcome.statuses == {"errored": 8}
    assert "Execution started: failed None" in outcome.output


def test_a_filter_leaves_a_test_set_out(script: Project, chat_service: ChatService) -> None:
    outcome = script.scoregate("run", "--suite", "something else")
    assert "Execution started: skipped None" in outcome.output
    assert chat_service.asked() == []


def test_a_read_only_store_does_not_prevent_the_record(script: Project) -> None:
    script.write("evals/hours.py", WITHOUT_PUSH)
    (script.root / ".scoregate").write_text("not a folder")
    outcome = script.scoregate("run")
    assert outcome.statuses == {"passed": 1}, outcome.output
    assert "the results are not stored" in outcome.output
    assert "done: completed 1" in outcome.output
