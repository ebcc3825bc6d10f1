"""A test, in every form that is accepted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.unit.entities.builders import make_conversation, make_question

from scoregate.entities import Behavior, Prompt, Test, TestConfiguration, Tests
from scoregate.enums import TestType
from scoregate.errors import EntityError


def test_a_requirement_is_a_behavior() -> None:
    test = Test(category="c", requirement="Refuses")
    assert (test.behavior, test.requirement) == ("Refuses", "Refuses")
    assert Test.from_dict({"behavior": "x", "requirement": "x"}).behavior == "x"
    with pytest.raises(ValidationError, match="one field, and say 'x' and 'y'"):
        Test.from_dict({"behavior": "x", "requirement": "y"})


def test_labels_and_types_can_be_objects() -> None:
    test = Test.from_dict(
        {
            "category": {"id": "1", "name": "Safety"},
            "topic": {"name": "Privacy"},
            "behavior": {"name": "Refuses"},
            "test_type": {"type_value": "Multi-Turn"},
            "test_metadata": {"a": 1},
            "status": "unknown names are left out",
        }
    )
    assert (test.category, test.topic, test.behavior) == ("Safety", "Privacy", "Refuses")
    assert (test.test_type, test.metadata) == (TestType.MULTI_TURN, {"a": 1})


def test_conversation_fields_are_part_of_the_configuration() -> None:
    test = make_conversation(
        "Get a refund", instructions="Insist", scenario="Shoes", restrictions="No threats", max_turns=5
    )
    assert test.test_configuration == TestConfiguration(
        goal="Get a refund", instructions="Insist", scenario="Shoes", restrictions="No threats", max_turns=5
    )
    assert (test.turns, make_question().turns) == (TestType.MULTI_TURN, TestType.SINGLE_TURN)
    configuration = TestConfiguration(goal="another")
    assert make_conversation("ignored", test_configuration=configuration).test_configuration == configuration


@pytest.mark.parametrize(
    "fields",
    [
        {"test_type": "Both"},
        {"goal": "g", "max_turns": 0},
        {"goal": "g", "max_turns": 2, "min_turns": 3},
        {"prompt": {"expected_response": "no content"}},
        {"prompt": {"content": "x", "language_code": ""}},
    ],
)
def test_invalid_tests_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        Test.model_validate(fields)


@pytest.mark.parametrize("fields", [{"files": ["shoe.png"]}, {"test_parameters": {"temperature": 0}}])
def test_fields_that_would_change_the_answer_are_refused(fields: dict[str, object]) -> None:
    (name,) = fields
    with pytest.raises(ValidationError, match=f"{name} of a test are not supported"):
        make_question(**fields)
    assert make_question(**{name: None}) == make_question(**{name: type(fields[name])()}) == make_question()


def test_assignments_are_checked() -> None:
    test = make_question()
    with pytest.raises(ValidationError):
        test.test_type = "Both"  # type: ignore[assignment]
    test.behavior = "Helps"
    assert test.requirement == "Helps"


def test_a_prompt_is_english_by_default_and_an_empty_expectation_none() -> None:
    assert Prompt(content="x").language_code == "en"
    assert Prompt(content="x", expected_response="").expected_response is None


def test_a_test_is_stored_under_the_given_id(kept: Path) -> None:
    test = make_question(id="test-123", metadata={"n": [1, None]})
    assert test.push()["test_type"] == "Single-Turn"
    assert (kept / "loose_tests" / "tests.jsonl").read_text().startswith('{"id": "test-123", "category": "Support", ')
    assert Tests.pull(id="test-123").to_dict() == {**test.to_dict(), "test_type": "Single-Turn"}
    test.topic = None
    test.push()
    fresh = make_question(id="test-123").pull()
    assert fresh.topic is None
    assert (test.delete(), test.delete(), Tests.exists("test-123")) == (True, False, False)


def test_a_test_without_an_id_gets_one() -> None:
    test = make_question()
    for act in (test.pull, test.delete):
        with pytest.raises(ValueError, match=r"^Entity has no ID$"):
            act()
    test.push()
    assert test.id
    assert Tests.exists(test.id)


def test_missing_fields_of_push_are_named() -> None:
    with pytest.raises(ValueError, match=r"^Required fields for push: category, behavior$"):
        Test(topic="t").push()
    with pytest.raises(ValueError, match="there is no test 'none'"):
        Test(id="none").pull()


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object()])
def test_metadata_without_json_is_refused(value: object, kept: Path) -> None:
    with pytest.raises(EntityError, match="the test 'x'"):
        make_question(id="x", metadata={"value": value}).push()
    assert not (kept / "loose_tests").exists()


def test_an_entity_is_shown_as_json_and_round_trips_in_csv(tmp_path: Path) -> None:
    for entity in (
        make_question('say "hi";\n', metadata={"a": [1]}),
        make_conversation(min_turns=1),
        Prompt(content="123"),
        Behavior(name="007", metrics=["a,b"]),
    ):
        assert json.loads(str(entity)) == entity.to_dict()
        assert type(entity).from_dict(entity.to_dict()) == entity
        entity.to_csv(tmp_path / "one.csv")
        assert type(entity).from_csv(tmp_path / "one.csv") == entity
    (tmp_path / "one.csv").write_text("a\n1\n2\n")
    with pytest.raises(EntityError, match="one row"):
        Prompt.from_csv(tmp_path / "one.csv")
