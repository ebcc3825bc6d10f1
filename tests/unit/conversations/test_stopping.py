"""Conversations end for the reason that counts most, and not before it is time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scoregate.conversations.loops import is_looping
from scoregate.conversations.plan import Limits, Plan, bounds
from scoregate.conversations.stopping import Standing, ending, is_to_be_judged
from scoregate.core.conversation import Ended, GoalVerdict, Turn

MET, UNMET, HOPELESS = GoalVerdict(True, 1.0), GoalVerdict(False, 0.5), GoalVerdict(False, 0.1)


def turns(count: int, tools: int = 0) -> list[Turn]:
    return [
        Turn(f"q{at}", f"a{at}", tool_calls=[{"name": f"tool {at} {call}"} for call in range(tools)])
        for at in range(count)
    ]


CASES: dict[str, tuple[Standing, dict[str, int], Ended | None]] = {
    "it has begun": (Standing(turns(1)), {}, None),
    "the goal is met": (Standing(turns(8), MET), {}, Ended.GOAL),
    "the goal is met in the very last turn": (Standing(turns(10), MET), {}, Ended.GOAL),
    "the goal is met before the least number of turns": (Standing(turns(3), MET), {"min_turns": 4}, None),
    "the goal is met in the last of the least turns": (Standing(turns(4), MET), {"min_turns": 4}, Ended.GOAL),
    "more turns are asked for than there may be": (
        Standing(turns(5), MET),
        {"max_turns": 5, "min_turns": 9},
        Ended.GOAL,
    ),
    "the goal is not met yet": (Standing(turns(8), UNMET), {}, None),
    "the goal is not met in the last turn": (Standing(turns(10), UNMET), {}, Ended.MAX_TURNS),
    "the goal is out of reach": (Standing(turns(8), HOPELESS), {}, Ended.IMPOSSIBLE),
    "the goal is out of reach in the last turn": (Standing(turns(10), HOPELESS), {}, Ended.IMPOSSIBLE),
    "too early to give up": (Standing(turns(7), HOPELESS), {"min_turns": 2}, None),
    "not to be given up before the least number": (Standing(turns(8), HOPELESS), {"min_turns": 9}, None),
    "nobody gave a score": (Standing(turns(9), GoalVerdict(False)), {}, None),
    "the turns are used up": (Standing(turns(3)), {"max_turns": 3}, Ended.MAX_TURNS),
    "the user is done and nobody judges": (Standing(turns(2), done=True), {}, Ended.GOAL),
    "the user is done too early": (Standing(turns(2), done=True), {"min_turns": 3}, None),
    "the user is done and the judge says no": (Standing(turns(2), UNMET, done=True), {}, None),
    "the user is done and the judge says yes": (Standing(turns(2), MET, done=True), {}, Ended.GOAL),
    "the tools are used up": (Standing(turns(5, tools=10)), {}, Ended.TOOL_LIMIT),
    "the tools are used up before the least number": (Standing(turns(5, tools=10)), {"min_turns": 6}, Ended.TOOL_LIMIT),
    "the tools are nearly used up": (Standing(turns(7, tools=7)), {}, None),
    "tools and turns are used up": (Standing(turns(10, tools=9)), {}, Ended.MAX_TURNS),
    "it goes round in circles": (Standing([Turn("a", "b")] * 3), {}, Ended.LOOP),
    "it goes round in circles, but the goal is met": (Standing([Turn("a", "b")] * 3, MET), {}, Ended.GOAL),
    "the least number of turns is told to be alike": (Standing([Turn("a", "b")] * 3), {"min_turns": 4}, None),
}


@pytest.mark.parametrize("case", CASES)
def test_what_counts_most_ends_it(case: str) -> None:
    standing, plan, ended = CASES[case]
    assert ending(standing, bounds(Plan("goal", **plan), Limits())) is ended


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
def test_the_goal_is_judged_only_where_that_can_matter(
    count: int, done: bool, plan: dict[str, int], judged: bool
) -> None:
    assert is_to_be_judged(Standing(turns(count), done=done), bounds(Plan("goal", **plan), Limits())) is judged


def test_the_last_fifth_is_late() -> None:
    late = [bounds(Plan("goal", max_turns=most), Limits()).late for most in (1, 2, 3, 4, 5, 10, 15, 35, 50)]
    assert late == [1, 2, 3, 4, 4, 8, 12, 28, 40]


def said(pairs: Sequence[tuple[str, str]], tools: Sequence[dict[str, Any]] = ()) -> list[Turn]:
    *first, last = [Turn(*pair) for pair in pairs]
    return [*first, Turn(last.user, last.assistant, tool_calls=tools)]


def calls(names: str) -> list[dict[str, Any]]:
    return [{"id": f"call-{at}", "name": name, "arguments": {}} for at, name in enumerate(names)]


@pytest.mark.parametrize(
    ("conversation", "loops"),
    [
        ([], False),
        (said([("a", "x")] * 2), False),
        (said([("a", "x")] * 3), True),
        (said([("A  cat", "x"), ("a cat ", "X"), ("a cat", "x\n")]), True),
        (said([("a", "x"), ("a", "x"), ("b", "x")]), False),
        (said([("a", "x"), ("b", "y")] * 2), True),
        (said([("a", "x"), ("b", "y"), ("a", "x"), ("b", "z")]), False),
        (said([(f"another way to ask, {at}", "I cannot help with that.") for at in range(10)]), False),
        (said([("a", f"{at}") for at in range(4)]), False),
        (said([("a", f"{at}") for at in range(5)]), True),
        (said([("a", "1"), ("a", "2"), ("b", "3"), ("a", "4"), ("a", "5"), ("a", "6")]), True),
        (said([("a", "x")], calls("ssss")), False),
        (said([("a", "x")], calls("sssss")), True),
        (said([("a", "x")], calls("srsrsr")), False),
        (said([("a", "x")], calls("ssrsss")), True),
    ],
)
def test_what_leads_nowhere_is_told_from_what_is_only_alike(conversation: list[Turn], loops: bool) -> None:
    assert is_looping(conversation) is loops


@pytest.mark.parametrize("wrong", [{"goal": " "}, {"goal": "a", "max_turns": 0}, {"goal": "a", "min_turns": -1}])
def test_a_plan_needs_a_goal_and_turns(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"a goal|at least 1"):
        Plan(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"max_turns": 0}, {"max_tool_calls": 0}, {"timeout_s": 0}, {"timeout_s": float("nan")}]
)
def test_limits_allow_something(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"at least 1|above 0"):
        Limits(**wrong)
