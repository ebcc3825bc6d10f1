"""Tests as cases of a suite: their identity in every run, and their description."""

from __future__ import annotations

from tests.unit.entities.builders import make_conversation, make_question, make_test_set

from scoregate.entities import Prompt, Test, TestSet, TestSets
from scoregate.execution.cases import describe_case, make_cases


def hashes(*tests: Test) -> list[str]:
    return [case.hash for case in make_cases(tests, 1)]


def test_a_test_with_an_id_is_identified_by_it() -> None:
    assert hashes(make_question("a", id="t-1"), make_question("b", id="t-1")) == ["t-1", "t-1#2"]


def test_a_test_without_id_is_identified_by_its_input() -> None:
    (first,) = hashes(make_question("a"))
    assert hashes(make_question("a", behavior="Another", category="Another", prompt=Prompt(content="a", id="p"))) == [
        first
    ]
    assert first not in hashes(make_question("b"), make_conversation("a"))
    (goal,) = hashes(make_conversation("a"))
    assert goal not in hashes(
        make_conversation("a", restrictions="No swearing"), make_conversation("a", scenario="At night")
    )
    assert hashes(make_conversation("a", max_turns=3)) == [goal]


def test_windows_line_ends_keep_the_identity() -> None:
    assert hashes(make_question("a\r\nb")) == hashes(make_question("a\nb")) != hashes(make_question("a b"))
    (one,), (other,) = (make_cases([make_question(text)], 1) for text in ("a\r\nb", "a\nb"))
    assert describe_case(one).digest == describe_case(other).digest


def test_tests_with_equal_input_are_numbered() -> None:
    first, second, third = hashes(make_question("a"), make_question("a"), make_question("a"))
    assert (second, third) == (f"{first}#2", f"{first}#3")


def test_an_id_given_by_a_push_does_not_change_the_hash() -> None:
    before = hashes(make_question("a"))
    test_set = make_test_set("Hours", make_question("a"))
    test_set.push()
    assert hashes(*test_set.tests or ()) == before
    assert hashes(*TestSets.pull(name="Hours").tests or ()) == before


def test_an_explicit_id_stays_the_hash() -> None:
    test_set = TestSet(name="Hours", tests=[make_question("a", id="t-1")])
    test_set.push()
    assert hashes(*TestSets.pull(name="Hours").tests or ()) == ["t-1"]


def test_a_case_has_the_input_and_the_expected_answer() -> None:
    test = make_question(
        "When  do\nyou open? " + "x" * 100, prompt=Prompt(content="When  do\nyou?", expected_response="At 9")
    )
    (case,) = make_cases([test], 3)
    description = describe_case(case)
    assert case.repeats == 3
    assert description.name == "When do you?"
    assert description.body == {
        "prompt": "When  do\nyou?",
        "expected_response": "At 9",
        "behavior": "Answers",
        "metadata": {"category": "Support", "topic": "Hours"},
    }
    assert description.tags == ("Support", "Hours", "Answers")


def test_metadata_describes_a_case_and_names_its_cluster() -> None:
    test = make_question("a", metadata={"cluster": 7, "document": "a.md", "long": "x" * 1_000, "parts": [1]})
    (case,) = make_cases([test], 1)
    description = describe_case(case)
    assert description.cluster == "7"
    assert description.body["metadata"] == {
        "category": "Support",
        "topic": "Hours",
        "cluster": 7,
        "document": "a.md",
    }


def test_a_changed_definition_has_another_digest() -> None:
    def digest(**fields: object) -> str:
        (case,) = make_cases([make_question("a", id="t-1", **fields)], 1)
        return describe_case(case).digest

    assert digest() == digest(category="Another") == digest(metadata={"document": "a.md"})
    assert digest() != digest(behavior="Another")
    assert digest() != digest(prompt=Prompt(content="a", expected_response="b"))
