"""Multi-turn tests: a simulated user talks to a real service, a judge decides when the goal is reached."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fakes.chat_service import ChatService
from tests.fakes.openai import OpenAIServer
from tests.integration.conversations.scripted import set_user_messages
from tests.integration.execution.questions import push_test_set, results, talk

from scoregate.entities import Endpoint
from scoregate.execution.conversation import ConversationOptions
from scoregate.execution.metrics import MetricSelection
from scoregate.execution.suite import make_scorers
from scoregate.kernel.types.conversation import Conversation
from scoregate.metrics import ConversationalJudge, GoalAchievementJudge

WORDS = {1: "I eat no nuts.", 2: "what did I just say?"}


@pytest.fixture(autouse=True)
def user(server: OpenAIServer) -> OpenAIServer:
    """It states a preference, asks for it, and is done."""
    set_user_messages(server, lambda turn: {"message": WORDS.get(turn, "Bye."), "done": turn > 2})
    return server


def set_goal_answer(server: OpenAIServer, *, met: bool) -> None:
    """The answer of the judge of goals."""
    criteria = [{"criterion": each, "evidence": "", "relevant_turns": [2], "met": met} for each in ("one", "two")]
    answer = {"reason": "as it is", "criteria_evaluations": criteria, "score": float(met), "confidence": 1.0}
    server.answers("did the conversation reach its goal", answer)


def test_a_reached_goal_ends_the_conversation(
    endpoint: Endpoint, server: OpenAIServer, chat_service: ChatService
) -> None:
    set_goal_answer(server, met=True)
    summary = push_test_set(talk("Be remembered")).execute(endpoint, metrics=[GoalAchievementJudge(name="goal")])
    (result,) = results(summary).values()
    conversation = Conversation.read(result.test_output)
    assert conversation is not None
    assert [(turn.user, turn.assistant) for turn in conversation.turns] == [
        ("I eat no nuts.", "You said: I eat no nuts."),
        ("what did I just say?", "You said: I eat no nuts."),
    ]
    assert (str(conversation.ended), conversation.goal_achieved) == ("goal", True)
    assert len({body.get("conversation_id") for body in chat_service.asked()[1:]}) == 1
    goal = result.test_metrics["metrics"]["goal"]
    assert (result.status, goal["is_successful"], goal["score"]) == ("Pass", True, 1.0)


def test_a_missed_goal_fails_the_test(endpoint: Endpoint, server: OpenAIServer) -> None:
    set_goal_answer(server, met=False)
    summary = push_test_set(talk("Be remembered", max_turns=2)).execute(
        endpoint, metrics=[GoalAchievementJudge(name="goal")]
    )
    (result,) = results(summary).values()
    conversation = Conversation.read(result.test_output)
    assert conversation is not None
    assert (len(conversation.turns), conversation.goal_achieved, result.status) == (2, False, "Fail")


def test_without_metrics_the_transcript_is_searched_for_the_behavior(endpoint: Endpoint, server: OpenAIServer) -> None:
    set_goal_answer(server, met=True)
    (result,) = results(push_test_set(talk()).execute(endpoint)).values()
    assert set(result.test_metrics["metrics"]) == {"behavior"}
    (questions,) = [text for text in map(_last, server.asked()) if "show the behavior" in text]
    assert "what did I just say?" in questions
    assert "BEGIN conversation" in questions


def test_turns_before_a_failure_are_kept_and_not_judged(
    endpoint: Endpoint, server: OpenAIServer, chat_service: ChatService
) -> None:
    set_goal_answer(server, met=True)
    chat_service.answers("nuts", lambda _: _break(chat_service))
    summary = push_test_set(talk()).execute(endpoint)
    (result,) = results(summary).values()
    conversation = Conversation.read(result.test_output)
    assert conversation is not None
    assert [turn.user for turn in conversation.turns] == ["I eat no nuts."]
    assert (result.status, result.test_metrics, summary["pass_rate"]) == ("Error", None, None)
    assert "EndpointError" in result.metadata["error"]


def test_conversation_scores_depend_on_the_user_and_judge_models() -> None:
    def mark(talks: ConversationOptions, test: Any) -> str | None:
        judge = ConversationalJudge("Is it kind?", name="kind")
        (scorer,) = make_scorers([test], MetricSelection([judge]), talks, 10)
        assert scorer.info.fingerprint is not None
        return scorer.info.fingerprint.parameters

    usual = mark(ConversationOptions(), talk())
    assert usual == mark(ConversationOptions(), talk("Another goal"))
    others = [
        ConversationOptions("openai/other"),
        ConversationOptions(judge=GoalAchievementJudge(model="openai/other")),
    ]
    assert usual not in {mark(each, talk()) for each in others}


def _break(service: ChatService) -> str:
    service.drop("POST", "/chat")
    return "Noted."


def _last(body: Any) -> str:
    return str(body["messages"][-1]["content"])
