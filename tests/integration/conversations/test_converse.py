"""A simulated user talks to a target until a limit. The turns are stored, also after an error."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.conversations.scripted import (
    PLAN,
    Scripted,
    prompts,
    run_conversation,
    scripted_judge,
    set_user_messages,
)

from scoregate.errors import EndpointError, MalformedAnswer, ModelError
from scoregate.execution.stopping import ConversationPlan, Limits
from scoregate.kernel.types.conversation import Conversation, EndReason, GoalVerdict, Reply, Turn
from scoregate.kernel.types.usage import UsageMeter


def test_a_turn_has_the_message_and_all_replies(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: {"message": f"question {turn}", "reasoning": f"because {turn}"})
    reply = Reply(
        {"answer": "from 9 to 5"},
        conversation_id="c-7",
        context=["page 3"],
        metadata={"model": "small"},
        tool_calls=[{"name": "lookup"}],
    )
    session = Scripted("Hello", reply)
    conversation = run_conversation(session, ConversationPlan("goal", max_turns=2))
    first, second = conversation.turns
    assert session.heard == ["question 1", "question 2"] == [first.user, second.user]
    assert (first.assistant, first.reasoning, first.context, first.tool_calls) == ("Hello", "because 1", (), ())
    assert second.assistant == '{"answer": "from 9 to 5"}'
    assert (second.context, second.tool_calls) == (("page 3",), ({"name": "lookup"},))
    assert second.metadata == {"model": "small", "conversation_id": "c-7"}
    assert second.duration_ms is not None
    assert (conversation.ended, conversation.goal_achieved) == (EndReason.MAX_TURNS, None)
    assert len(server.requests) == 2, "one question to the model a turn"
    assert Conversation.read(json.loads(json.dumps(conversation.plain()))) == conversation


def test_the_user_gets_its_role_and_the_conversation(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: f"question {turn}")
    plan = ConversationPlan(
        "Get a refund",
        instructions="Be short.",
        scenario="You bought shoes.",
        restrictions="Never promise money.",
        max_turns=3,
        min_turns=2,
    )
    run_conversation(Scripted("No.", "Maybe."), plan)
    for system, _ in prompts(server):
        for part in ("Get a refund", "Be short.", "You bought shoes.", "Never promise money."):
            assert part in system["content"]
        assert system["role"] == "system"
    first, second, third = [messages[1]["content"] for messages in prompts(server)]
    assert "you speak first" in first
    assert "It is your turn 2 of at most 3; take at least 2." in second
    assert "Turn 1, user:\n  question 1\nTurn 1, assistant:\n  No." in second
    assert "Turn 2, assistant:\n  Maybe." in third
    assert {body["temperature"] for body in server.asked()} == {0.0}


def test_findings_are_recorded_once_with_their_turn(server: OpenAIServer) -> None:
    found = {1: ["told before anything was said"], 2: ["says it opens at 9", " says it opens at 9 "], 3: ["is rude"]}
    set_user_messages(server, lambda turn: {"message": f"question {turn}", "findings": found[turn]})
    conversation = run_conversation(Scripted("At 9.", "Go away."), ConversationPlan("goal", max_turns=3))
    assert conversation.findings == ("Turn 1: says it opens at 9", "Turn 2: is rude")


def test_a_met_goal_ends_it(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: f"question {turn}")
    judge, judge_prompts = scripted_judge(False, True)
    conversation = run_conversation(Scripted("a", "b", "c"), ConversationPlan("goal", min_turns=1), judge=judge)
    assert (len(conversation.turns), conversation.ended, conversation.goal_achieved) == (2, EndReason.GOAL, True)
    assert [(len(each.turns), each.ended) for each in judge_prompts] == [(1, None), (2, None)]


def test_a_goal_met_in_the_last_turn_counts(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: f"question {turn}")
    judge, judge_prompts = scripted_judge(True)
    conversation = run_conversation(Scripted("a"), ConversationPlan("goal", max_turns=1), judge=judge)
    assert (conversation.ended, conversation.goal_achieved, len(judge_prompts)) == (EndReason.GOAL, True, 1)


def test_an_unmet_goal_is_reported(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: f"question {turn}")
    judge, judge_prompts = scripted_judge(GoalVerdict(False, 0.5))
    conversation = run_conversation(Scripted("a"), judge=judge)
    assert (conversation.ended, conversation.goal_achieved) == (EndReason.MAX_TURNS, False)
    assert [len(each.turns) for each in judge_prompts] == [8, 9, 10], "judged in the last fifth of the turns alone"


def test_a_late_unreachable_goal_is_abandoned(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: f"question {turn}")
    judge, _ = scripted_judge(GoalVerdict(False, 0.2))
    conversation = run_conversation(Scripted("a"), ConversationPlan("goal", min_turns=1), judge=judge)
    assert (len(conversation.turns), conversation.ended) == (8, EndReason.IMPOSSIBLE)


def test_a_user_continues_if_the_judge_disagrees(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: {"message": f"question {turn}", "done": turn in (1, 3, 5)})
    judge, judge_prompts = scripted_judge(False, True)
    conversation = run_conversation(Scripted("a"), judge=judge)
    assert (len(conversation.turns), conversation.ended, conversation.goal_achieved) == (4, EndReason.GOAL, True)
    assert [len(each.turns) for each in judge_prompts] == [2, 4]


def test_each_turn_is_judged_once(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: {"message": f"question {turn}", "done": True})
    judge, judge_prompts = scripted_judge(GoalVerdict(False, 0.5))
    run_conversation(Scripted("a"), ConversationPlan("goal", max_turns=3, min_turns=1), judge=judge)
    assert [len(each.turns) for each in judge_prompts] == [1, 2, 3]


def test_without_a_judge_the_user_ends_it_undecided(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: {"message": f"question {turn}", "done": turn > 2})
    conversation = run_conversation(Scripted("a"))
    assert (len(conversation.turns), conversation.ended, conversation.goal_achieved) == (2, EndReason.GOAL, None)


def test_a_target_with_endless_tools_is_stopped(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: f"question {turn}")
    calls = [{"name": "search", "arguments": {"page": page}} for page in range(4)]
    conversation = run_conversation(Scripted(Reply("a", tool_calls=calls)), limits=Limits(max_tool_calls=10))
    assert (len(conversation.turns), conversation.ended) == (3, EndReason.TOOL_LIMIT)


def test_a_repetitive_user_is_stopped_and_judged(server: OpenAIServer) -> None:
    set_user_messages(server, lambda _: "When do you open?")
    judge, judge_prompts = scripted_judge(GoalVerdict(False, 0.5))
    conversation = run_conversation(Scripted("Hm."), judge=judge)
    assert (len(conversation.turns), conversation.ended, conversation.goal_achieved) == (3, EndReason.LOOP, False)
    assert len(judge_prompts) == 1


def test_a_timeout_keeps_the_finished_turns(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: f"question {turn}")

    class Slower(Scripted):
        async def send(self, message: str) -> Reply:
            self._delay_s = 300.0 if self.heard else 0.0
            return await super().send(message)

    for limit_s in (3.0, 60.0):  # on a busy machine, no turn may end in three seconds
        with suppress(EndpointError):
            conversation = run_conversation(Slower("a"), limits=Limits(timeout_s=limit_s))
            break
    assert [turn.user for turn in conversation.turns] == ["question 1"]
    assert (conversation.ended, conversation.goal_achieved) == (EndReason.TIMEOUT, None)


def test_a_missing_reply_is_an_unjudged_error(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: f"question {turn}")
    with pytest.raises(EndpointError, match="no reply within") as caught:
        run_conversation(Scripted("a", delay_s=90.0), limits=Limits(timeout_s=2.0))
    assert caught.value.kind == "timeout"


def test_an_error_of_the_target_has_the_conversation(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: {"message": f"question {turn}", "reasoning": "", "findings": ["vague"]})
    with pytest.raises(EndpointError, match="502") as caught:
        run_conversation(Scripted("Hello", EndpointError("502 Bad Gateway", kind="http_error", status=502)))
    conversation = Conversation.read(caught.value.partial_output)
    assert conversation is not None
    assert [(turn.user, turn.assistant) for turn in conversation.turns] == [("question 1", "Hello")]
    assert (conversation.ended, conversation.findings) == (None, ("Turn 1: vague",))


def test_a_user_error_has_it_too(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: f"question {turn}" if turn < 3 else {"message": "  "})
    server.answers("say something", {"message": ""})
    with pytest.raises(MalformedAnswer, match="say something") as caught:
        run_conversation(Scripted("Hello", "Bye"))
    conversation = Conversation.read(caught.value.partial_output)
    assert conversation is not None
    assert len(conversation.turns) == 2


def test_an_error_of_the_judge_is_an_error(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: f"question {turn}")

    async def judge(_: Conversation) -> GoalVerdict:
        raise ModelError("no judge today")

    with pytest.raises(ModelError, match="no judge today") as caught:
        run_conversation(Scripted("Hello"), ConversationPlan("goal", max_turns=1), judge=judge)
    assert caught.value.partial_output["turns"][0]["assistant"] == "Hello"


def test_user_calls_are_metered(server: OpenAIServer, meter: UsageMeter) -> None:
    set_user_messages(server, lambda turn: f"question {turn}")
    run_conversation(Scripted("Hello"), ConversationPlan("goal", max_turns=3))
    assert [usage.cached for usage in meter.usages] == [False] * 3
    assert all(usage.input_tokens > 100 for usage in meter.usages)


def test_an_equal_conversation_is_cached(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_CACHE", "on")
    set_user_messages(server, lambda turn: f"question {turn}")

    def target(name: str) -> Scripted:
        return Scripted(
            *(Reply(f"answer {index}", conversation_id=name, metadata={"time": name}) for index in range(3))
        )

    first = run_conversation(target("one"), ConversationPlan("goal", max_turns=3))
    assert len(server.requests) == 3
    second = run_conversation(target("other"), ConversationPlan("goal", max_turns=3))
    assert len(server.requests) == 3, "ids and times of a target are no part of a question"
    assert [turn.user for turn in second.turns] == [turn.user for turn in first.turns]


@pytest.mark.parametrize("output", [None, 0, [], {"a": None}, "ä\ud800"])
def test_the_user_gets_replies_as_text(server: OpenAIServer, output: Any) -> None:
    set_user_messages(server, lambda turn: f"question {turn}")
    conversation = run_conversation(Scripted(output), ConversationPlan("goal", max_turns=2))
    assert isinstance(conversation.turns[0].assistant, str)
    assert conversation.turns[0] == Turn(
        "question 1",
        output if isinstance(output, str) else json.dumps(output),
        reasoning="because it is so",
        duration_ms=conversation.turns[0].duration_ms,
    )


def test_the_default_plan_has_ten_turns(server: OpenAIServer) -> None:
    set_user_messages(server, lambda turn: f"question {turn}")
    assert len(run_conversation(Scripted("a"), PLAN).turns) == 10
    assert len(run_conversation(Scripted("a"), PLAN, limits=Limits(max_turns=4)).turns) == 4
