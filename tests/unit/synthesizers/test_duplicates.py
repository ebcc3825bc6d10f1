"""Which tests are duplicates."""

from __future__ import annotations

import sys

import pytest

from scoregate.entities import Prompt, Test
from scoregate.synthesizers.generate import DistinctTests


def distinct_tests(*texts: str, similarity: float = 0.9) -> DistinctTests:
    distinct = DistinctTests(similarity)
    for text in texts:
        distinct.add(Test(category="c", behavior="b", prompt=Prompt(content=text)))
    return distinct


def texts(found: DistinctTests) -> list[str]:
    return [test.prompt.content for test in found.tests if test.prompt]


def test_case_space_and_punctuation_make_no_difference() -> None:
    distinct = distinct_tests("When do you open?", "when do  YOU open", "Where are you?", similarity=1)
    assert texts(distinct) == ["When do you open?", "Where are you?"]
    assert (distinct.dropped, distinct.measure) == (1, "exact")


def test_texts_without_words_are_compared_as_they_are() -> None:
    assert texts(distinct_tests("???", "!!!", "???", "🙂")) == ["???", "!!!", "🙂"]


def test_similar_texts_are_one_unless_a_number_differs() -> None:
    distinct = distinct_tests(
        "How do I return the shoes that I bought?",
        "How do I return the shoes which I bought?",
        "May I return shoes after 30 days?",
        "May I return shoes after 31 days?",
    )
    assert len(texts(distinct)) == 3
    assert distinct.measure == "rapidfuzz ratio 0.9"


def test_without_rapidfuzz_only_equal_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    distinct = distinct_tests("How do I return the shoes that I bought?", "How do I return the shoes which I bought?")
    assert (len(distinct.tests), distinct.measure) == (2, "exact")


def test_conversations_differ_by_goal_and_scenario() -> None:
    distinct = DistinctTests(1)
    for goal, scenario in (("a", "x"), ("a", "y"), ("A", "x")):
        distinct.add(Test(category="c", behavior="b", goal=goal, scenario=scenario))  # type: ignore[call-arg]
    assert len(distinct.tests) == 2
