"""Which tests are duplicates."""

from __future__ import annotations

import sys

import pytest

from scoregate.entities import Prompt, Test
from scoregate.synthesizers.generate import DistinctTests


def distinct_tests(*texts: str, similarity: float = 0.9) -> DistinctTests:
    found = DistinctTests(similarity)
    for text in texts:
        found.add(Test(category="c", behavior="b", prompt=Prompt(content=text)))
    return found


def texts(found: DistinctTests) -> list[str]:
    return [test.prompt.content for test in found.tests if test.prompt]


def test_case_space_and_punctuation_make_no_difference() -> None:
    found = distinct_tests("When do you open?", "when do  YOU open", "Where are you?", similarity=1)
    assert texts(found) == ["When do you open?", "Where are you?"]
    assert (found.dropped, found.measure) == (1, "exact")


def test_texts_without_words_are_compared_as_they_are() -> None:
    assert texts(distinct_tests("???", "!!!", "???", "🙂")) == ["???", "!!!", "🙂"]


def test_similar_texts_are_one_unless_a_number_differs() -> None:
    found = distinct_tests(
        "How do I return the shoes that I bought?",
        "How do I return the shoes which I bought?",
        "May I return shoes after 30 days?",
        "May I return shoes after 31 days?",
    )
    assert len(texts(found)) == 3
    assert found.measure == "rapidfuzz ratio 0.9"


def test_without_rapidfuzz_only_equal_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    found = distinct_tests("How do I return the shoes that I bought?", "How do I return the shoes which I bought?")
    assert (len(found.tests), found.measure) == (2, "exact")


def test_conversations_differ_by_goal_and_scenario() -> None:
    found = DistinctTests(1)
    for goal, scenario in (("a", "x"), ("a", "y"), ("A", "x")):
        found.add(Test(category="c", behavior="b", goal=goal, scenario=scenario))  # type: ignore[call-arg]
    assert len(found.tests) == 2
