"""Conversations end for the most important reason, and not too early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from scoregate.execution.simulated_user import turn_messages
from scoregate.execution.stopping import (
    ConversationPlan,
    Limits,
    Progress,
    find_ending,
    is_looping,
    make_bounds,
    needs_goal_check,
)
from scoregate.kernel.types.conversation import EndReason, GoalVerdict, Turn

MET, UNMET, HOPELESS = GoalVerdict(True, 1.0), GoalVerdict(False, 0.5), GoalVerdict(False, 0.1)


def turns(count: int, tools: int = 0) -> list[Turn]:
    return [
        Turn(f"q{index}", f"a{index}", tool_calls=[{"name": f"tool {index} {call}"} for call in range(tools)])
        for index in range(count)
    ]


def test_the_user_sees_messages_without_answer_details() -> None:
    plan, limits = ConversationPlan("Learn the hours"), Limits()
    plain = [Turn("When?", "At nine.", tool_calls=[{"name": "hours"}])]
    detailed = [replace(plain[0], context=("Open 9-5",), metadata={"source": "faq"})]
    first, second = (turn_messages(plan, given, make_bounds(plan, limits)) for given in (plain, detailed))
    assert first == second
    assert "At nine." in first[-1]["content"]


CASES: dict[str, tuple[Progress, dict[str, int], EndReason | None]] = {
    "it has begun": (Progress(turns(1)), {}, None),
    "the goal is met": (Progress(turns(8), MET), {}, EndReason.GOAL),
    "the goal is met in the very last turn": (Progress(turns(10), MET), {}, EndReason.GOAL),
    "the goal is met before the least number of turns": (Progress(turns(3), MET), {"min_turns": 4}, None),
    "the goal is met in the last of the least turns": (Progress(turns(4), MET), {"min_turns": 4}, EndReason.GOAL),
    "more turns are asked for than there may be": (
        Progress(turns(5), MET),
        {"max_turns": 5, "min_turns": 9},
        EndReason.GOAL,
    ),
    "the goal is not met yet": (Progress(turns(8), UNMET), {}, None),
    "the goal is not met in the last turn": (Progress(turns(10), UNMET), {}, EndReason.MAX_TURNS),
    "the goal is out of reach": (Progress(turns(8), HOPELESS), {}, EndReason.IMPOSSIBLE),
    "the goal is out of reach in the last turn": (Progress(turns(10), HOPELESS), {}, EndReason.IMPOSSIBLE),
    "too early to give up": (Progress(turns(7), HOPELESS), {"min_turns": 2}, None),
    "not to be given up before the least number": (Progress(turns(8), HOPELESS), {"min_turns": 9}, None),
    "nobody gave a score": (Progress(turns(9), GoalVerdict(False)), {}, None),
    "the turns are used up": (Progress(turns(3)), {"max_turns": 3}, EndReason.MAX_TURNS),
    "the user is done and nobody judges": (Progress(turns(2), done=True), {}, EndReason.GOAL),
    "the user is done too early": (Progress(turns(2), done=True), {"min_turns": 3}, None),
    "the user is done and the judge says no": (Progress(turns(2), UNMET, done=True), {}, None),
    "the user is done and the judge says yes": (Progress(turns(2), MET, done=True), {}, EndReason.GOAL),
    "the tools are used up": (Progress(turns(5, tools=10)), {}, EndReason.TOOL_LIMIT),
    "the tools are used up before the least number": (
        Progress(turns(5, tools=10)),
        {"min_turns": 6},
        EndReason.TOOL_LIMIT,
    ),
    "the tools are nearly used up": (Progress(turns(7, tools=7)), {}, None),
    "tools and turns are used up": (Progress(turns(10, tools=9)), {}, EndReason.MAX_TURNS),
    "it goes round in circles": (Progress([Turn("a", "b")] * 3), {}, EndReason.LOOP),
    "it goes round in circles, but the goal is met": (Progress([Turn("a", "b")] * 3, MET), {}, EndReason.GOAL),
    "the least number of turns is told to be alike": (Progress([Turn("a", "b")] * 3), {"min_turns": 4}, None),
}


@pytest.mark.parametrize("case", CASES)
def test_the_first_reason_ends_it(case: str) -> None:
    state, plan, ended = CASES[case]
    assert find_ending(state, make_bounds(ConversationPlan("goal", **plan), Limits())) is ended


@pytest.mark.parametrize(
    ("count", "done", "plan", "judged"),
    [
        (0, True, {}, False),
        (7, False, {}, False),
        (8, False, {}, True),
        (10, False, {}, True),
        (2, True, {}, True),
        (2, True, {"min_turns": 3}, False),
        (3, False, {"min_turns": 3}, True),
        (3, False, {"max_turns": 3}, True),
        (3, False, {"max_turns": 4}, False),
        (5, False, {"max_turns": 5, "min_turns": 9}, True),
    ],
)
def test_the_goal_is_judged_only_if_it_matters(count: int, done: bool, plan: dict[str, int], judged: bool) -> None:
    assert (
        needs_goal_check(Progress(turns(count), done=done), make_bounds(ConversationPlan("goal", **plan), Limits()))
        is judged
    )


def test_the_last_fifth_is_late() -> None:
    late = [
        make_bounds(ConversationPlan("goal", max_turns=most), Limits()).late_from_turn
        for most in (1, 2, 3, 4, 5, 10, 15, 35, 50)
    ]
    assert late == [1, 2, 3, 4, 4, 8, 12, 28, 40]


def make_turns(pairs: Sequence[tuple[str, str]], tools: Sequence[dict[str, Any]] = ()) -> list[Turn]:
    *first, last = [Turn(*pair) for pair in pairs]
    return [*first, Turn(last.user, last.assistant, tool_calls=tools)]


def calls(names: str) -> list[dict[str, Any]]:
    return [{"id": f"call-{index}", "name": name, "arguments": {}} for index, name in enumerate(names)]


@pytest.mark.parametrize(
    ("conversation", "loops"),
    [
        ([], False),
        (make_turns([("a", "x")] * 2), False),
        (make_turns([("a", "x")] * 3), True),
        (make_turns([("A  cat", "x"), ("a cat ", "X"), ("a cat", "x\n")]), True),
        (make_turns([("a", "x"), ("a", "x"), ("b", "x")]), False),
        (make_turns([("a", "x"), ("b", "y")] * 2), True),
        (make_turns([("a", "x"), ("b", "y"), ("a", "x"), ("b", "z")]), False),
        (make_turns([(f"another way to ask, {at}", "I cannot help with that.") for at in range(10)]), False),
        (make_turns([("a", f"{at}") for at in range(4)]), False),
        (make_turns([("a", f"{at}") for at in range(5)]), True),
        (make_turns([("a", "1"), ("a", "2"), ("b", "3"), ("a", "4"), ("a", "5"), ("a", "6")]), True),
        (make_turns([("a", "x")], calls("ssss")), False),
        (make_turns([("a", "x")], calls("sssss")), True),
        (make_turns([("a", "x")], calls("srsrsr")), False),
        (make_turns([("a", "x")], calls("ssrsss")), True),
    ],
)
def test_loops_are_distinguished_from_similar_turns(conversation: list[Turn], loops: bool) -> None:
    assert is_looping(conversation) is loops


@pytest.mark.parametrize("wrong", [{"goal": " "}, {"goal": "a", "max_turns": 0}, {"goal": "a", "min_turns": -1}])
def test_a_plan_needs_a_goal_and_turns(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"a goal|at least 1"):
        ConversationPlan(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"max_turns": 0}, {"max_tool_calls": 0}, {"timeout_s": 0}, {"timeout_s": float("nan")}]
)
def test_limits_allow_one_turn(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"at least 1|above 0"):
        Limits(**wrong)
