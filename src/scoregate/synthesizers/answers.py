"""What a model answers with, and the tests that come of it: nothing in it is taken unchecked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, Field, WithJsonSchema, create_model

from scoregate.entities import Prompt, Test, TestConfiguration
from scoregate.enums import TestType
from scoregate.synthesizers.batches import Batch
from scoregate.synthesizers.brief import Brief

_LONGEST_NAME, _LONGEST_TEXT = 200, 20_000
_MOST_TURNS = 50
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


class _Question(BaseModel):
    prompt_content: str = Field(description="What the user says, word for word.")
    prompt_expected_response: str = Field("", description="What a good answer says; empty where no one knows.")
    prompt_language_code: str = Field("en", description="The language of both, such as en or pt-BR.")


class _Talk(BaseModel):
    test_configuration_goal: str = Field(description="What the conversation is to bring about or to find out.")
    test_configuration_instructions: str = Field("", description="How the user goes about it, step by step.")
    test_configuration_restrictions: str = Field("", description="What the assistant must not do or say in it.")
    test_configuration_scenario: str = Field("", description="Who the user is, and in what situation.")
    test_configuration_min_turns: int | None = Field(None, description="Turns it takes at least, from 1 to 50.")
    test_configuration_max_turns: int | None = Field(None, description="Turns it may take at most, from 1 to 50.")


@lru_cache(maxsize=64)
def schema_of(brief: Brief) -> type[BaseModel]:
    """What the answer must be: flat tests, with names among those that are allowed."""
    behaviors, categories, topics = brief.names
    names: Any = {
        "behavior": (_named(behaviors), Field(description="What the answer is to show.")),
        "category": (_named(categories), Field(description="What kind of test it is.")),
        "topic": (_named(topics), Field(description="What it is about.")),
    }
    base = _Talk if brief.kind is TestType.MULTI_TURN else _Question
    item: Any = create_model("GeneratedTest", __base__=base, **names)
    return create_model("GeneratedTests", tests=(list[item], ...))


def valid_tests(answer: Any, brief: Brief, batch: Batch) -> Iterator[Test]:
    """The tests of an answer, without those that lack something or have a name that is not allowed."""
    for item in answer.tests:
        labels = [_label(getattr(item, name), among) for name, among in zip(_LABELS, brief.names, strict=True)]
        said = _talk(item) if brief.kind is TestType.MULTI_TURN else _question(item)
        if said and all(labels):
            behavior, category, topic = labels
            yield Test(
                category=category,
                topic=topic,
                behavior=behavior,
                test_type=brief.kind,
                metadata=_metadata(brief, batch),
                **said,
            )


_LABELS = ("behavior", "category", "topic")


def _question(item: Any) -> dict[str, Any]:
    if not (content := _text(item.prompt_content)):
        return {}
    language = item.prompt_language_code.strip()
    return {
        "prompt": Prompt(
            content=content,
            expected_response=_text(item.prompt_expected_response),
            language_code=language if _LANGUAGE.fullmatch(language) else "en",
        )
    }


def _talk(item: Any) -> dict[str, Any]:
    if not (goal := _text(item.test_configuration_goal)):
        return {}
    least, most = _turns(item.test_configuration_min_turns), _turns(item.test_configuration_max_turns)
    return {
        "test_configuration": TestConfiguration(
            goal=goal,
            instructions=_text(item.test_configuration_instructions),
            restrictions=_text(item.test_configuration_restrictions),
            scenario=_text(item.test_configuration_scenario),
            min_turns=None if least and most and least > most else least,
            max_turns=most,
        )
    }


def _turns(number: int | None) -> int | None:
    return None if number is None else min(max(number, 1), _MOST_TURNS)


def _text(text: str) -> str:
    return text.strip()[:_LONGEST_TEXT]


def _label(text: str, among: Sequence[str]) -> str | None:
    """The name that is meant; where only one is allowed, that one."""
    folded = " ".join(text.split())[:_LONGEST_NAME]
    if not among:
        return folded or None
    same = (name for name in among if name.casefold() == folded.casefold())
    return among[0] if len(among) == 1 else next(same, None)


def _named(among: Sequence[str]) -> Any:
    """Text, of which servers that hold to a schema make one of the names; of the others it is read and looked at."""
    return Annotated[str, WithJsonSchema({"type": "string", "enum": list(among)})] if among else str


def _metadata(brief: Brief, batch: Batch) -> dict[str, Any]:
    made: dict[str, Any] = {"generated_by": brief.maker}
    if batch.chunk is not None:
        made["sources"] = [{"source": batch.chunk.source, "chunk": batch.chunk.number}]
    return made
