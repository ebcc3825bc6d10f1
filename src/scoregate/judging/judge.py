"""One question: the model gives its reason, then its choice, or a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from scoregate.judging.templates import system

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scoregate.models import Model


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model chose, why, and what it was asked; of a conversation also on which turns that rests, from 1."""

    choice: str
    reason: str
    prompt: str
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Rating:
    """The number that a model gave, why, and what it was asked; of a conversation also on which turns that rests."""

    value: float
    reason: str
    prompt: str
    turns: tuple[int, ...] = ()


async def judge(model: Model, prompt: str, choices: Sequence[str], *, turns: int = 0) -> Judgement:
    """Ask a model to choose.

    Args:
        prompt: the question, with what is judged. choices: what may be answered, at least one.
        turns: how many a conversation has, of which the model then names the relevant ones.

    Raises:
        ModelError: there is no answer, or it is none of the choices. MissingExtra: a package is not installed.
    """
    answer = await asked(model, prompt, _schema(tuple(choices), turns))
    return Judgement(answer.answer, answer.reason, prompt, _named(answer) if turns else ())


async def rate(model: Model, prompt: str, *, low: float, high: float, turns: int = 0) -> Rating:
    """Ask a model for a number.

    Args:
        prompt: the question, with what is judged. low, high: the bounds of what may be answered, both included.
        turns: as of `judge`.

    Raises:
        ModelError: there is no answer, or it is no such number. MissingExtra: a package is not installed.
    """
    answer = await asked(model, prompt, _scale(low, high, turns))
    return Rating(answer.answer, answer.reason, prompt, _named(answer) if turns else ())


async def asked(model: Model, prompt: str, schema: type[BaseModel]) -> Any:
    """The answer of a model that is told to judge, as an instance of a schema.

    Raises:
        ModelError: there is none. MissingExtra: a package is not installed.
    """
    messages = [{"role": "system", "content": system()}, {"role": "user", "content": prompt}]
    return (await model.a_generate(messages, schema=schema, temperature=0.0)).parsed


@lru_cache(maxsize=256)
def _schema(choices: tuple[str, ...], turns: int) -> type[BaseModel]:
    return _answering(Literal[choices], turns)


@lru_cache(maxsize=256)
def _scale(low: float, high: float, turns: int) -> type[BaseModel]:
    from pydantic import Field

    return _answering(Annotated[float, Field(ge=low, le=high, allow_inf_nan=False)], turns)


def _answering(answer: Any, turns: int) -> type[BaseModel]:
    """The reason stands first, so that the answer follows from it."""
    from pydantic import Field, create_model

    named: Any = {"relevant_turns": turn_numbers(turns)} if turns else {}
    return create_model(
        "Judgement",
        reason=(str, Field(description="Why, in a few sentences; written before the answer is chosen.")),
        **named,
        answer=(answer, Field(description="The answer that follows from the reason.")),
    )


def turn_numbers(turns: int) -> Any:
    """The field of a schema that names turns of a conversation of so many."""
    from pydantic import Field

    number = Annotated[int, Field(ge=1, le=turns)]
    return list[number], Field(description="The numbers of the turns that the reason rests on.")


def _named(answer: Any) -> tuple[int, ...]:
    return tuple(sorted({*answer.relevant_turns}))
