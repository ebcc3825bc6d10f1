"""Batches of tests from a model: prompts, answers and errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import anyio
from pydantic import BaseModel, Field, WithJsonSchema, create_model

from scoregate.entities import Prompt, Test, TestConfiguration
from scoregate.enums import TestType
from scoregate.errors import BudgetSpent, MissingExtra, MissingKey, ModelGone, RateLimited, RefusedSchema, SettingsError
from scoregate.grading.prompts import make_delimiter, render_messages
from scoregate.kernel.types.text import replace_surrogates
from scoregate.synthesizers.config import Brief
from scoregate.synthesizers.sources import Chunk

if TYPE_CHECKING:
    from scoregate.models import Model


@dataclass(frozen=True, slots=True)
class Batch:
    """A request for `size` tests, based on a chunk if there are sources.

    The number, counted from 1, makes the prompt differ from those of other batches. `known` are tests that the model
    should not repeat.
    """

    number: int
    size: int
    chunk: Chunk | None = None
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shortfall:
    """The number of tests that a batch did not deliver; `failed`: there was no answer at all."""

    batch: Batch
    missing: int
    failed: bool


def first_batches(tests: int, most: int, chunks: Sequence[Chunk]) -> list[Batch]:
    """Batches of at most `most` tests, spread evenly over the chunks."""
    shares = distribute(tests, chunks) if chunks else [(None, tests)]
    sized = ((size, chunk) for chunk, share in shares for size in batch_sizes(share, most))
    return [Batch(number, size, chunk) for number, (size, chunk) in enumerate(sized, 1)]


def retry_batches(gaps: Iterable[Shortfall], most: int, *, after: int, known: Sequence[str]) -> list[Batch]:
    """Batches for missing tests, for each chunk; half the size if there was no answer.

    Args:
        gaps: the missing tests.
        most: the largest size of a batch.
        after: the number of the last batch so far.
        known: tests that exist already.
    """
    by_chunk: dict[Chunk | None, list[Shortfall]] = {}
    for gap in gaps:
        by_chunk.setdefault(gap.batch.chunk, []).append(gap)
    numbers = count(after + 1)
    batches = []
    for chunk, results in by_chunk.items():
        missing = sum(gap.missing for gap in results)
        largest = max(1, min((gap.batch.size // 2 for gap in results if gap.failed), default=most))
        batches += [Batch(next(numbers), size, chunk, tuple(known)) for size in batch_sizes(missing, largest)]
    return batches


def batch_sizes(tests: int, most: int) -> Iterator[int]:
    """The sizes of batches of at most `most` tests."""
    yield from (min(most, tests - begun) for begun in range(0, tests, most))


def distribute(tests: int, chunks: Sequence[Chunk]) -> list[tuple[Chunk | None, int]]:
    """The number of tests for each chunk. With fewer tests than chunks, every n-th chunk has one."""
    if tests < len(chunks):
        return [(chunks[number * len(chunks) // tests], 1) for number in range(tests)]
    each, more = divmod(tests, len(chunks))
    return [(chunk, each + (number < more)) for number, chunk in enumerate(chunks)]


_PROMPTS = Path(__file__).parent / "prompts"


def batch_messages(brief: Brief, batch: Batch) -> list[dict[str, Any]]:
    """The prompt. It is the same for the same brief and batch, so that cached answers are reused.

    Raises:
        MissingExtra: jinja2 is not installed.
    """
    # Texts that the prompt delimits, because they may contain instructions.
    untrusted = {
        "context": brief.config.additional_context,
        "source": "" if batch.chunk is None else batch.chunk.text,
        "tests that there are": "\n".join(f"- {text}" for text in batch.known),
    }
    blocks = {name: replace_surrogates(text) for name, text in untrusted.items() if text.strip()}
    words = {
        "config": brief.config,
        "batch": batch,
        "multi_turn": brief.kind is TestType.MULTI_TURN,
        "blocks": blocks,
        "fence": make_delimiter(blocks.values()),
    }
    return render_messages(_PROMPTS, "batch", words)


_LONGEST_NAME, _LONGEST_TEXT = 200, 20_000
_MOST_TURNS = 50
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


class _PromptAnswer(BaseModel):
    prompt_content: str = Field(description="What the user says, word for word.")
    prompt_expected_response: str = Field("", description="What a good answer says; empty where no one knows.")
    prompt_language_code: str = Field("en", description="The language of both, such as en or pt-BR.")


class _ConversationAnswer(BaseModel):
    test_configuration_goal: str = Field(description="What the conversation is to bring about or to find out.")
    test_configuration_instructions: str = Field("", description="How the user goes about it, step by step.")
    test_configuration_restrictions: str = Field("", description="What the assistant must not do or say in it.")
    test_configuration_scenario: str = Field("", description="Who the user is, and in what situation.")
    test_configuration_min_turns: int | None = Field(None, description="Turns it takes at least, from 1 to 50.")
    test_configuration_max_turns: int | None = Field(None, description="Turns it may take at most, from 1 to 50.")


@lru_cache(maxsize=64)
def answer_schema(brief: Brief) -> type[BaseModel]:
    """The schema of the answer: flat tests with allowed labels."""
    behaviors, categories, topics = brief.names
    names: Any = {
        "behavior": (_name_type(behaviors), Field(description="What the answer is to show.")),
        "category": (_name_type(categories), Field(description="What kind of test it is.")),
        "topic": (_name_type(topics), Field(description="What it is about.")),
    }
    base = _ConversationAnswer if brief.kind is TestType.MULTI_TURN else _PromptAnswer
    item: Any = create_model("GeneratedTest", __base__=base, **names)
    return create_model("GeneratedTests", tests=(list[item], ...))


def valid_tests(answer: Any, brief: Brief, batch: Batch) -> Iterator[Test]:
    """The complete tests of an answer whose labels are allowed."""
    for item in answer.tests:
        labels = [_match_label(getattr(item, name), among) for name, among in zip(_LABELS, brief.names, strict=True)]
        fields = _conversation_fields(item) if brief.kind is TestType.MULTI_TURN else _prompt_fields(item)
        if not fields or not all(labels):
            continue
        behavior, category, topic = labels
        metadata: dict[str, Any] = {"generated_by": brief.maker}
        if batch.chunk is not None:
            metadata["sources"] = [{"source": batch.chunk.source, "chunk": batch.chunk.number}]
        yield Test(category=category, topic=topic, behavior=behavior, test_type=brief.kind, metadata=metadata, **fields)


_LABELS = ("behavior", "category", "topic")


def _prompt_fields(item: Any) -> dict[str, Any]:
    if not (content := _clean_text(item.prompt_content)):
        return {}
    language = item.prompt_language_code.strip()
    return {
        "prompt": Prompt(
            content=content,
            expected_response=_clean_text(item.prompt_expected_response),
            language_code=language if _LANGUAGE.fullmatch(language) else "en",
        )
    }


def _conversation_fields(item: Any) -> dict[str, Any]:
    if not (goal := _clean_text(item.test_configuration_goal)):
        return {}
    least, most = _clamp_turns(item.test_configuration_min_turns), _clamp_turns(item.test_configuration_max_turns)
    return {
        "test_configuration": TestConfiguration(
            goal=goal,
            instructions=_clean_text(item.test_configuration_instructions),
            restrictions=_clean_text(item.test_configuration_restrictions),
            scenario=_clean_text(item.test_configuration_scenario),
            min_turns=None if least and most and least > most else least,
            max_turns=most,
        )
    }


def _clamp_turns(number: int | None) -> int | None:
    return None if number is None else min(max(number, 1), _MOST_TURNS)


def _clean_text(text: str) -> str:
    return text.strip()[:_LONGEST_TEXT]


def _match_label(text: str, among: Sequence[str]) -> str | None:
    """The allowed label that equals the text without regard to case; if only one is allowed, that one."""
    folded = " ".join(text.split())[:_LONGEST_NAME]
    if not among:
        return folded or None
    same = (name for name in among if name.casefold() == folded.casefold())
    return among[0] if len(among) == 1 else next(same, None)


def _name_type(among: Sequence[str]) -> Any:
    """A text with an enum in the schema. Some servers ignore enums, so that the answer is checked again."""
    return Annotated[str, WithJsonSchema({"type": "string", "enum": list(among)})] if among else str


# After these errors every further request fails, too.
FINAL_ERRORS = (BudgetSpent, MissingExtra, MissingKey, ModelGone, RateLimited, RefusedSchema, SettingsError)


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The result of a batch: at most as many tests as requested, or the error."""

    batch: Batch
    tests: tuple[Test, ...] = ()
    error: Exception | None = None


async def ask_batches(
    model: Model, brief: Brief, batches: Sequence[Batch], *, at_once: int, on_result: Callable[[BatchResult], object]
) -> list[BatchResult]:
    """The results in the order of the batches. After a final error no further batch is requested.

    Args:
        model: the model.
        brief: what to generate.
        batches: the requests.
        at_once: the number of parallel requests.
        on_result: called with each result as it arrives.
    """
    result_by_number: dict[int, BatchResult] = {}
    limiter = anyio.CapacityLimiter(at_once)

    async def ask(batch: Batch) -> None:
        async with limiter:
            # After the wait, in which another batch may have failed.
            if any(isinstance(each.error, FINAL_ERRORS) for each in result_by_number.values()):
                return
            try:
                answer = await model.a_generate(batch_messages(brief, batch), schema=answer_schema(brief))
                # A model may write more than it was asked for.
                tests = islice(valid_tests(answer.parsed, brief, batch), batch.size)
                outcome = BatchResult(batch, tuple(tests))
            except Exception as error:  # a custom model may raise anything; other batches continue
                outcome = BatchResult(batch, error=error)
            result_by_number[batch.number] = outcome
            on_result(outcome)

    async with anyio.create_task_group() as group:
        for batch in batches:
            group.start_soon(ask, batch)
    return [result_by_number[batch.number] for batch in batches if batch.number in result_by_number]
