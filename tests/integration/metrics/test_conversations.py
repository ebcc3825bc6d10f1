"""Judges of conversations: a number for the whole, and a goal by its criteria."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.judging.suites import only_case, prompts
from tests.integration.judging.test_injections import parts
from tests.integration.metrics.suites import MULTI, SINGLE, TALK, run

from scoregate.kernel.types.conversation import Conversation, GoalVerdict
from scoregate.kernel.types.evaluation import Threshold
from scoregate.metrics import ConversationalJudge, ConversationHistory, GoalAchievementJudge, goal_verdicts

HISTORY = ConversationHistory.from_conversation(TALK)
CALM = ConversationalJudge("Does it stay calm?", name="calm", min_score=1, max_score=5)
GOAL = GoalAchievementJudge(name="goal")
CONTRACT = replace(GOAL, required_criteria=["The hours are told"], prohibited_criteria=["It is rude"])


def criterion(text: Any, met: bool, *turns: int) -> dict[str, Any]:
    return {"criterion": text, "evidence": f"turn {turns}", "relevant_turns": list(turns), "met": met}


def goal_answer(*criteria: dict[str, Any], score: float = 0.9) -> dict[str, Any]:
    return {"reason": "so it went", "criteria_evaluations": list(criteria), "score": score, "confidence": 0.8}


def test_a_conversation_is_graded_by_a_number(server: OpenAIServer) -> None:
    server.answers("from 1 to 5", {"reason": "calm", "answer": 2, "relevant_turns": [2]})
    evaluation = only_case(run([CALM], {"a": MULTI})).evaluations["calm"]
    assert (evaluation.score, evaluation.passed) == (0.25, False)
    assert evaluation.metadata is not None
    assert (evaluation.metadata["value"], evaluation.metadata["relevant_turns"]) == (2, [2])
    result = CALM.evaluate(HISTORY, goal="Learn the hours")
    assert (result.score, result.details["is_successful"]) == (2, False)
    assert parts(prompts(server)[-1])[0]["goal"] == "Learn the hours"


def test_the_judge_sees_the_context_and_the_metadata_of_each_message(server: OpenAIServer) -> None:
    server.answers("from 1 to 5", {"reason": "calm", "answer": 2, "relevant_turns": [1]})
    answer = {"role": "assistant", "content": "At nine."}
    messages = [
        {"role": "user", "content": "When?"},
        {**answer, "context": ["Open 9-5"], "metadata": {"source": "faq"}},
    ]
    CALM.evaluate(ConversationHistory.from_messages(messages))
    CALM.evaluate(ConversationHistory.from_messages([messages[0], answer]))
    with_details, without = (parts(prompt)[0]["conversation"] for prompt in prompts(server))
    assert 'Turn 1, context of the answer:\n  "Open 9-5"\n' in with_details
    assert 'Turn 1, metadata of the answer:\n  {"source": "faq"}' in with_details
    assert without == "Turn 1, user:\n  When?\nTurn 1, assistant:\n  At nine."


def test_it_skips_single_outputs(server: OpenAIServer) -> None:
    case = only_case(run([CALM, GOAL]))
    assert (case.evaluations, sorted(case.unscored)) == ({}, ["calm", "goal"])
    assert server.requests == []


@pytest.mark.parametrize(("met", "score", "passed"), [((True, True), 1, True), ((True, False), 0.5, False)])
def test_a_goal_needs_every_criterion(server: OpenAIServer, met: tuple[bool, bool], score: float, passed: bool) -> None:
    server.answers("", goal_answer(criterion("Hours are told", met[0], 1), criterion("Sundays too", met[1], 2, 1)))
    evaluation = only_case(run([GOAL], {"a": MULTI})).evaluations["goal"]
    assert (evaluation.score, evaluation.threshold, evaluation.passed) == (score, Threshold(gte=1), passed)
    assert evaluation.assertions is not None
    assertions = [(each.criterion, each.passed, each.required, each.metadata) for each in evaluation.assertions]
    assert assertions == [
        ("Hours are told", met[0], True, {"evidence": "turn (1,)", "relevant_turns": [1]}),
        ("Sundays too", met[1], True, {"evidence": "turn (2, 1)", "relevant_turns": [1, 2]}),
    ]
    assert evaluation.metadata is not None
    expected = {"value": 0.9, "confidence": 0.8, "criteria_met": sum(met), "criteria_total": 2}
    assert evaluation.metadata.items() >= expected.items()
    assert evaluation.metadata["relevant_turns"] == [1, 2]


def test_a_direct_call_passes_by_its_criteria(server: OpenAIServer) -> None:
    server.answers("", goal_answer(criterion("a", True, 1), criterion("b", True, 2), score=0.2))
    details = GOAL.evaluate(HISTORY, goal="Learn the hours").details
    assert (details["score"], details["threshold"], details["is_successful"]) == (0.2, 0.7, True)
    assert details["all_criteria_met"]
    assert details["criteria_evaluations"][0] == criterion("a", True, 1)


def test_criteria_are_numbered(server: OpenAIServer) -> None:
    server.answers("", goal_answer(criterion(1, True, 1), criterion(2, False, 2)))
    evaluation = only_case(run([CONTRACT], {"a": replace(MULTI, goal="")})).evaluations["goal"]
    assert "1. The hours are told\n2. This never happens: It is rude" in prompts(server)[0]
    assert evaluation.assertions is not None
    assert [(each.criterion, each.passed) for each in evaluation.assertions] == [
        ("The hours are told", True),
        ("This never happens: It is rude", False),
    ]


def test_missing_or_contradictory_judgements_are_not_met(server: OpenAIServer) -> None:
    server.answers("", goal_answer(criterion(1, True, 1), criterion(1, True, 2)))
    first = only_case(run([CONTRACT], {"a": MULTI})).evaluations["goal"]
    server.answers("", goal_answer(criterion(1, True, 1), criterion(1, False, 2), criterion(2, True, 1)))
    second = only_case(run([CONTRACT], {"a": MULTI})).evaluations["goal"]
    met = [[each.passed for each in entry.assertions or ()] for entry in (first, second)]
    assert met == [[True, False], [False, True]]
    assert first.assertions is not None
    assert first.assertions[1].metadata == {"evidence": "it was not judged", "relevant_turns": []}


BAD = [
    goal_answer(),
    goal_answer(criterion("a", True, 1)),
    goal_answer(*[criterion(str(number), True, 1) for number in range(5)]),
    goal_answer(criterion("a", True, 3), criterion("b", True, 1)),
    goal_answer(criterion("a", True, 1), criterion("b", True, 0)),
    goal_answer(criterion("a", True, 1), criterion("b", True, 1), score=1.5),
    goal_answer(criterion("", True, 1), criterion("b", True, 1)),
    "it was reached",
]


@pytest.mark.parametrize("answer", BAD)
def test_invalid_goal_judgements(server: OpenAIServer, answer: Any) -> None:
    server.answers("", answer)
    case = only_case(run([GOAL], {"a": MULTI}))
    assert (case.evaluations, case.errors[0].error.type) == ({}, "MalformedAnswer")


def test_a_criterion_of_no_number_is_no_judgement(server: OpenAIServer) -> None:
    server.answers("", goal_answer(criterion(1, True, 1), criterion(3, True, 1)))
    assert only_case(run([CONTRACT], {"a": MULTI})).errors[0].error.type == "MalformedAnswer"


def test_a_goal_and_messages_are_needed(server: OpenAIServer) -> None:
    without = {"no goal": replace(MULTI, goal=" "), "no words": replace(MULTI, conversation=Conversation(()))}
    errors = {case.hash: case.errors[0].error.message for case in run([GOAL], without).cases}
    assert "judges whether a goal was reached, and this test has none" in errors["no goal"]
    assert "judges conversations, and there is none here" in errors["no words"]
    with pytest.raises(ValueError, match="this test has none"):
        GOAL.evaluate(HISTORY)
    assert server.requests == []


def test_restrictions_are_a_criterion_if_the_model_adds_them(server: OpenAIServer) -> None:
    run([GOAL], {"a": MULTI})
    run([GOAL], {"a": replace(MULTI, restrictions="")})
    run([CONTRACT], {"a": MULTI})
    assert ["kept to the block" in parts(prompt)[1] for prompt in prompts(server)] == [True, False, False]


@pytest.mark.anyio
async def test_it_decides_whether_to_continue(server: OpenAIServer) -> None:
    server.answers("", goal_answer(criterion("a", True, 1), criterion("b", False, 1), score=4))
    ask = goal_verdicts(GoalAchievementJudge(min_score=1, max_score=5), MULTI)
    assert await ask(Conversation(TALK.turns[:1])) == GoalVerdict(False, 0.75, "so it went")
    assert "Turn 2" not in prompts(server)[0]
    with pytest.raises(ValueError, match="there is none here"):
        await goal_verdicts(GOAL, SINGLE)(Conversation(()))
