"""Repositories without Python in the container: a table of tests, an endpoint, and the comment that a team gets."""

from __future__ import annotations

import html
import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.container.conftest import Action
from tests.e2e.container.test_configs import step
from tests.e2e.container.workflow import Workflow
from tests.fakes.chat_service import ChatService
from tests.fakes.fixtures import chat_service, github
from tests.fakes.github import GitHub, events
from tests.fakes.openai import OpenAIServer, Question
from tests.integration.conversations.scripted import set_user_messages

__all__ = ["chat_service", "github"]
TOPICS = ("coats", "shoes", "tents", "stoves", "maps", "ropes", "socks", "hats")
ENDPOINT = 'name = "shop"\nurl = "{url}/chat"\nrequest_headers = {{ "X-Shop" = "${{SHOP}}" }}\nretries = 0\n'
REFUNDS = """
[testset]
name = "refund-desk"
endpoint = "shop.toml"

[gates]
min_pass_rate = 0.9
"""
PLANNER = """
[testset]
name = "trip-planner"
endpoint = "shop.toml"

[[metrics]]
kind = "goal"
name = "goal"
"""
GOAL = "A place for dinner that suits a vegetarian"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer.start() as running:
        yield running


@pytest.fixture
def workflow(github: GitHub, action: Action, tmp_path: Path, chat_service: ChatService) -> Workflow:
    """A repository with the definition of an endpoint, and nothing that Python would run."""
    new_workflow = Workflow.new(github, tmp_path)
    new_workflow.action = action
    (new_workflow.project.root / "evals" / "demo.py").unlink()
    new_workflow.project.write("evals/shop.toml", ENDPOINT.format(url=chat_service.url))
    return new_workflow


def evals(server: OpenAIServer) -> list[dict[str, Any]]:
    return step({**server.environment, "SHOP": "tarn"})


def test_a_table_and_an_endpoint_get_their_comment(
    workflow: Workflow, server: OpenAIServer, chat_service: ChatService
) -> None:
    rows = [f"Can I return {each}?,Returns,Refunds,Names the deadline" for each in TOPICS]
    workflow.project.write("evals/refunds.csv", "prompt_content,category,topic,behavior\n" + "\n".join(rows) + "\n")
    workflow.project.write("evals/refunds.toml", REFUNDS)
    workflow.commit()
    chat_service.answers("Can I return", "Yes, within 30 days.")
    server.answers("show the behavior", lambda question: _shown(question, "30 days"))
    first = workflow.steps(events.push(workflow.repo), evals(server))
    assert (first.exit_code, first.outputs["conclusion"]) == (0, "passed"), first.log
    assert {exchange.headers["x-shop"] for exchange in chat_service.requests} == {"tarn"}

    workflow.branch()
    workflow.project.write("app.js", "answer = 'it depends'\n")
    workflow.commit()
    chat_service.answers("tents|maps", "It depends.")
    pull = workflow.open_pull_request()
    second = workflow.steps(events.pull_request(pull), evals(server)[:1])
    assert (second.exit_code, second.outputs["conclusion"]) == (1, "failed"), second.log
    (comment,) = pull.comments
    comment_text = html.unescape(comment.body)
    assert "2 newly failing" in comment_text
    assert "required: ≥ 90.0% (set in <code>evals/refunds.toml:7</code>)" in comment_text
    assert "<code>Can I return tents?</code><br><sub><code>refunds.csv:4</code></sub>" in comment_text
    assert "It depends." in comment_text
    places = [(each.level, each.properties.get("file"), each.properties.get("line")) for each in second.annotations]
    assert places == [
        ("error", "evals/refunds.toml", "2"),
        ("notice", "evals/refunds.csv", "4"),
        ("notice", "evals/refunds.csv", "6"),
    ]
    cases = list(ET.parse(workflow.project.root / second.outputs["junit-path"]).getroot().iter("testcase"))
    failed = [(case.get("file"), case.get("line")) for case in cases if case.find("failure") is not None]
    assert {("evals/refunds.csv", "4"), ("evals/refunds.csv", "6")} <= set(failed)


def test_a_failed_conversation_shows_both_turns(
    workflow: Workflow, server: OpenAIServer, chat_service: ChatService
) -> None:
    columns = "goal,category,topic,behavior,max_turns"
    workflow.project.write("evals/planner.csv", f"{columns}\n{GOAL},Trips,Rome,Remembers preferences,3\n")
    workflow.project.write("evals/planner.testset.toml", PLANNER)
    workflow.commit()
    words = {1: "I am vegetarian, and in Rome in May.", 2: "Where shall I have dinner?"}
    set_user_messages(server, lambda turn: {"message": words.get(turn, "Thank you."), "done": turn > 2})
    chat_service.answers("vegetarian", "How nice! What would you like?")
    chat_service.answers("dinner", "Try Armando al Pantheon: their artichokes.")
    _judges(server, met=True)
    first = workflow.steps(events.push(workflow.repo), evals(server))
    assert first.exit_code == 0, first.log

    workflow.branch()
    workflow.project.write("prompt.txt", "Be brief.\n")
    workflow.commit()
    chat_service.answers("dinner", "Try Checchino: their grilled steak.")
    _judges(server, met=False)
    pull = workflow.open_pull_request()
    second = workflow.steps(events.pull_request(pull), evals(server)[:1])
    assert second.exit_code == 1, second.log
    (comment,) = pull.comments
    comment_text = html.unescape(comment.body)
    assert "failed in turn 2, according to the judges" in comment_text
    (line,) = [line for line in comment_text.splitlines() if line.startswith("| 2 |") and "steak" in line]
    assert line.index("artichokes") < line.index("steak")
    assert "planner.csv:2" in comment_text


def _shown(question: Question, words: str) -> dict[str, Any]:
    is_shown = words in json.dumps(question.body["messages"])
    return {"answer": "Yes" if is_shown else "No", "reason": "it says when" if is_shown else "it names no deadline"}


def _judges(server: OpenAIServer, *, met: bool) -> None:
    """The answer of the judge of goals: the second turn decides."""
    criteria = [
        {"criterion": each, "evidence": "turn 2", "relevant_turns": [2], "met": met}
        for each in ("suits a vegetarian", "is a place for dinner")
    ]
    reason = "The place suits." if met else "Steak is nothing for a vegetarian."
    answer = {"reason": reason, "criteria_evaluations": criteria, "score": float(met), "confidence": 1.0}
    server.answers("did the conversation reach its goal", answer)
