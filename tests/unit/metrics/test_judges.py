"""Arguments of judges: what is accepted, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from scoregate.enums import TestType
from scoregate.errors import MetricError
from scoregate.metrics import (
    CategoricalJudge,
    ConversationHistory,
    GoalAchievementJudge,
    NumericJudge,
    behavior_judge,
    build_scorers,
)
from scoregate.testing.evaluators import BaseIsEquals


def test_a_default_scale_is_0_to_1_and_0_5_passes() -> None:
    judge = NumericJudge("Is it polite?")
    assert (judge.min_score, judge.max_score, judge.threshold, judge.threshold_operator) == (0, 1, 0.5, ">=")
    assert (judge.name, judge.metric_scope) == ("NumericJudge", (TestType.SINGLE_TURN, TestType.MULTI_TURN))
    assert NumericJudge("x", min_score=1, max_score=5).threshold == 3


SCALES: list[tuple[dict[str, Any], str]] = [
    ({"min_score": 1}, "both or not at all"),
    ({"max_score": 1}, "both or not at all"),
    ({"min_score": 1, "max_score": 1}, "up to a greater one"),
    ({"min_score": 5, "max_score": 1}, "up to a greater one"),
    ({"min_score": "1", "max_score": 5}, "must be a number, not '1'"),
    ({"min_score": float("nan"), "max_score": 5}, "must be finite"),
    ({"threshold": 1.5}, "must lie from 0 to 1, not at 1.5"),
    ({"threshold": True}, "must be a number, not True"),
    ({"threshold_operator": "=="}, "'==' is not a valid ThresholdOperator"),
    ({"evaluation_prompt": " "}, "needs an evaluation_prompt"),
    ({"evaluation_prompt": 3}, "evaluation_prompt of 'polite' must be a string, not 3"),
    ({"evaluation_steps": ["a"]}, "evaluation_steps of 'polite' must be a string"),
    ({"metric_scope": "Both"}, "a metric contains 'Single-Turn' and 'Multi-Turn', not 'Both'"),
    ({"metric_scope": []}, "a metric contains"),
    ({"metric_scope": 1}, "a metric contains 'Single-Turn' and 'Multi-Turn', not 1"),
    ({"model": 3}, "must be a name or a Model, not 3"),
    ({"name": "a\nb"}, "must be a string on one line"),
]


@pytest.mark.parametrize(("fields", "message"), SCALES)
def test_invalid_numeric_judges(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(MetricError, match=message) as exc_info:
        NumericJudge(**{"evaluation_prompt": "Is it polite?", "name": "polite", **fields})
    assert isinstance(exc_info.value, ValueError)


CATEGORIES: list[tuple[Any, Any, str]] = [
    (["a"], "a", "categories must be at least 2 different names"),
    ((), "a", "categories must be at least 2"),
    ("ab", "a", "categories must be at least 2"),
    (["a", "a"], "a", "categories must be at least 2 different names"),
    (["a", ""], "a", "different names"),
    (["a", 3], "a", "different names"),
    (["a", "b"], [], "passing_categories must be one or several names"),
    (["a", "b"], 1, "passing_categories must be one or several names, each once, not 1"),
    (["a", "b"], None, "passing_categories must be one or several names, each once, not None"),
    (2, "a", "categories must be at least 2 different names, not 2"),
    (["a", "b"], "A", r"passing_categories \['A'\] are none of its categories, \['a', 'b'\]"),
    (["a", "b"], ["a", "c"], r"passing_categories \['c'\] are none"),
]


@pytest.mark.parametrize(("categories", "passing", "message"), CATEGORIES)
def test_invalid_categorical_judges(categories: Any, passing: Any, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        CategoricalJudge("Which tone?", categories=categories, passing_categories=passing)


def test_the_criteria_of_a_goal_are_a_list_of_sentences() -> None:
    for fields in (1, "a sentence", ["a", 2], [" "]):
        with pytest.raises(MetricError, match="required_criteria must be a list of sentences"):
            GoalAchievementJudge(required_criteria=fields)  # type: ignore[arg-type]


def test_one_passing_category_can_be_text() -> None:
    judge = CategoricalJudge("Which tone?", categories=["kind", "odd"], passing_categories="kind")
    assert judge.passing_categories == ("kind",)
    assert judge.requires_ground_truth


def test_scopes_are_texts_or_types() -> None:
    assert NumericJudge("x", metric_scope="single-turn").metric_scope == (TestType.SINGLE_TURN,)
    both = NumericJudge("x", metric_scope=["MULTI_TURN", TestType.SINGLE_TURN]).metric_scope
    assert both == (TestType.SINGLE_TURN, TestType.MULTI_TURN)


def test_a_judge_can_be_a_custom_class() -> None:
    class Polite(NumericJudge):
        def __init__(self) -> None:
            super().__init__("Is it polite?", min_score=1, max_score=3)
            self.note = "mine"

    assert (Polite().name, Polite().threshold, Polite().note) == ("Polite", 2, "mine")


BAD_INPUT: list[tuple[dict[str, Any], str]] = [
    ({"output": {"a": 1}}, "output must be a string"),
    ({"input": None}, "input must be a string"),
    ({"expected_output": 3}, "expected_output must be a string"),
    ({"context": "a"}, "context must be a list of strings, not 'a'"),
    ({"context": [1]}, "context must be a list of strings"),
    ({"conversation_history": []}, "must be a ConversationHistory"),
    ({"conversation_history": ConversationHistory(())}, "is empty"),
]


@pytest.mark.parametrize(("fields", "message"), BAD_INPUT)
def test_invalid_grades_fail(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NumericJudge("x").evaluate(**{"input": "a", "output": "b", **fields})


def test_some_need_an_expected_output() -> None:
    tone = CategoricalJudge("Which tone?", categories=["kind", "odd"], passing_categories="kind")
    with pytest.raises(ValueError, match="needs an expected_output to compare with, and this test has none"):
        tone.evaluate("a", "b")
    with pytest.raises(ValueError, match="this test names none"):
        behavior_judge().evaluate("a", "b")


def test_metrics_have_unique_names() -> None:
    class Equal(BaseIsEquals[Any, Any]):
        id = "x"

        def test_case_mapper(self, test_case: Any) -> str:
            return str(test_case)

        def output_mapper(self, output: Any) -> str:
            return str(output)

    with pytest.raises(MetricError, match="several metrics have the name 'x'"):
        build_scorers([NumericJudge("a", name="x"), Equal()], lambda _case, output: output)
    with pytest.raises(MetricError, match=r"metric 2 \(str\) is neither a metric nor an evaluator"):
        build_scorers([NumericJudge("a"), "polite"], lambda _case, output: output)


def test_messages_become_turns() -> None:
    history = ConversationHistory.from_messages(
        [
            {"role": "system", "content": "Be kind."},
            {"role": "assistant", "content": "Hello!"},
            {"role": "user", "content": "Hi"},
            {"role": "user", "content": "When?"},
            {"role": "assistant", "content": None, "tool_calls": [{"name": "hours"}]},
            {"role": "tool", "content": "9"},
            {"role": "assistant", "content": "At nine.", "context": ["9", {"id": 1}], "metadata": {"from": "faq"}},
            {"role": "user", "content": "Thanks"},
        ]
    )
    pairs = [(turn.user, turn.assistant) for turn in history.turns]
    assert pairs == [("", "Hello!"), ("Hi\n\nWhen?", ""), ("", "At nine."), ("Thanks", "")]
    assert history.turns[1].tool_calls == ({"name": "hours"},)
    assert (history.turns[2].context, history.turns[2].metadata) == (("9", '{"id":1}'), {"from": "faq"})
    assert [message["content"] for message in history.messages] == ["Hello!", "Hi\n\nWhen?", "At nine.", "Thanks"]
    assert len(history) == 4


def test_invalid_messages() -> None:
    answer = {"role": "assistant", "content": "x"}
    messages: list[dict[str, Any]] = [
        {"role": "judge", "content": "x"},
        {"role": "user"},
        {"role": "assistant", "content": None, "context": []},
        {"content": "x"},
        {**answer, "context": "a text"},
        {**answer, "tool_calls": {"name": "hours"}},
        {**answer, "metadata": ["faq"]},
    ]
    for message in messages:
        with pytest.raises(ValueError, match="message 1: its"):
            ConversationHistory.from_messages([message])


def test_an_answer_can_have_only_details() -> None:
    (turn,) = ConversationHistory.from_messages([{"role": "assistant", "content": None, "metadata": {"n": 1}}]).turns
    assert (turn.assistant, turn.metadata) == ("", {"n": 1})
