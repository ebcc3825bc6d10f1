"""Tests from answers of models, and valid options."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoregate.entities import Test
from scoregate.enums import TestType
from scoregate.models import Model
from scoregate.synthesizers import GenerationConfig, PromptSynthesizer, Synthesizer
from scoregate.synthesizers.ask_model import Batch, answer_schema, valid_tests
from scoregate.synthesizers.config import Brief
from scoregate.synthesizers.options import Options
from scoregate.synthesizers.sources import Chunk

NAMES = {"behavior": "Refuses", "category": "Safety", "topic": "Weapons"}
ASKED = {**NAMES, "prompt_content": " How? ", "prompt_language_code": "pt-BR"}


def generate_tests(*items: dict[str, Any], kind: TestType = TestType.SINGLE_TURN, **names: Any) -> list[Test]:
    brief = Brief("Maker", kind, GenerationConfig(generation_prompt="x", **names))
    answer = answer_schema(brief).model_validate_json(json.dumps({"tests": items}))
    return list(valid_tests(answer, brief, Batch(1, 9, Chunk("a.md", 2, "text"))))


def test_a_test_names_its_model_and_source() -> None:
    (test,) = generate_tests({**ASKED, "test_type": "Multi-Turn", "metadata": {"generated_by": "me"}})
    assert (test.behavior, test.category, test.topic) == ("Refuses", "Safety", "Weapons")
    assert test.prompt is not None
    assert (test.prompt.content, test.prompt.expected_response, test.prompt.language_code) == ("How?", None, "pt-BR")
    assert test.test_type is TestType.SINGLE_TURN
    assert test.metadata == {"generated_by": "Maker", "sources": [{"source": "a.md", "chunk": 2}]}


def test_incomplete_tests_are_dropped_and_languages_are_codes() -> None:
    empty = [{**ASKED, name: " \n"} for name in (*NAMES, "prompt_content")]
    (test,) = generate_tests(*empty, {**ASKED, "prompt_language_code": "the one of the user"})
    assert test.prompt is not None
    assert test.prompt.language_code == "en"


def test_only_allowed_names_are_accepted_in_their_spelling() -> None:
    items = [{**ASKED, "behavior": behavior} for behavior in ("refuses", "Obeys", "Explains  why")]
    assert [test.behavior for test in generate_tests(*items, behaviors=["Refuses", "Explains why"])] == [
        "Refuses",
        "Explains why",
    ]
    assert {test.behavior for test in generate_tests(*items, behaviors=["Only this"])} == {"Only this"}


def test_turns_are_limited() -> None:
    conversation = {**NAMES, "test_configuration_goal": "Get it"}
    turns = [(None, None), (0, 99), (9, 3)]
    items = [
        {**conversation, "test_configuration_min_turns": least, "test_configuration_max_turns": most}
        for least, most in turns
    ]
    found = [test.test_configuration for test in generate_tests(*items, kind=TestType.MULTI_TURN)]
    assert [(each.min_turns, each.max_turns) for each in found if each] == [(None, None), (1, 50), (None, 3)]


def test_requirements_are_behaviors() -> None:
    assert GenerationConfig(requirements=["A", "A "]).behaviors == ("A",)  # type: ignore[call-arg]
    assert Synthesizer("x", requirements=["A"]).config == Synthesizer("x", ["A"]).config
    with pytest.raises(ValueError, match="are one argument"):
        Synthesizer("x", ["A"], requirements=["B"])


@pytest.mark.parametrize("wrong", [{}, {"generation_prompt": " "}, {"behaviors": [""]}, {"behaviours": ["A"]}])
def test_wrong_configurations_fail(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        GenerationConfig(**wrong)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"batch_size": 0}, ValueError),
        ({"batch_size": 2.5}, TypeError),
        ({"retries": -1}, ValueError),
        ({"max_concurrency": True}, TypeError),
        ({"chunk_size": 99}, ValueError),
        ({"similarity": 0}, ValueError),
        ({"sources": "handbook.md"}, TypeError),
    ],
)
def test_options_have_ranges(wrong: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(wrong))):
        Options(**wrong)


class UnusedModel:
    """A model that must not be called."""

    name = "never/asked"

    def generate(self, *_: Any, **__: Any) -> Any:
        raise AssertionError

    a_generate = generate


@pytest.mark.parametrize(("wrong", "error"), [(0, ValueError), ("5", TypeError), (True, TypeError)])
def test_num_tests_is_checked(wrong: Any, error: type[Exception]) -> None:
    model: Model = UnusedModel()
    with pytest.raises(error, match="num_tests"):
        PromptSynthesizer("x", model=model).generate(wrong)
