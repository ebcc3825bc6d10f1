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
    """What a model chose, why, and what it was asked."""

    choice: str
    reason: str
    prompt: str


@dataclass(frozen=True, slots=True)
class Rating:
    """The number that a model gave, why, and what it was asked."""

    value: float
    reason: str
    prompt: str


async def judge(model: Model, prompt: str, choices: Sequence[str]) -> Judgement:
    """Ask a model to choose.

    Args:
        prompt: the question, with what is judged. choices: what may be answered, at least one.

    Raises:
        ModelError: there is no answer, or it is none of the choices. MissingExtra: a package is not installed.
    """
    answer = await _asked(model, prompt, _schema(tuple(choices)))
    return Judgement(answer.answer, answer.reason, prompt)


async def rate(model: Model, prompt: str, *, low: float, high: float) -> Rating:
    """Ask a model for a number.

    Args:
        prompt: the question, with what is judged. low, high: the bounds of what may be answered, both included.

    Raises:
        ModelError: there is no answer, or it is no such number. MissingExtra: a package is not installed.
    """
    answer = await _asked(model, prompt, _scale(low, high))
    return Rating(answer.answer, answer.reason, prompt)


async def _asked(model: Model, prompt: str, schema: type[BaseModel]) -> Any:
    messages = [{"role": "system", "content": system()}, {"role": "user", "content": prompt}]
    return (await model.a_generate(messages, schema=schema, temperature=0.0)).parsed


@lru_cache(maxsize=256)
def _schema(choices: tuple[str, ...]) -> type[BaseModel]:
    return _answering(Literal[choices])


@lru_cache(maxsize=256)
def _scale(low: float, high: float) -> type[BaseModel]:
    from pydantic import Field

    return _answering(Annotated[float, Field(ge=low, le=high, allow_inf_nan=False)])


def _answering(answer: Any) -> type[BaseModel]:
    """The reason stands first, so that the answer follows from it."""
    from pydantic import Field, create_model

    return create_model(
        "Judgement",
        reason=(str, Field(description="Why, in a few sentences; written before the answer is chosen.")),
        answer=(answer, Field(description="The answer that follows from the reason.")),
    )
