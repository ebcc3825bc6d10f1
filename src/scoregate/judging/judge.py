"""One question with choices: the model gives its reason, then its choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

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


async def judge(model: Model, prompt: str, choices: Sequence[str]) -> Judgement:
    """Ask a model to choose.

    Args:
        prompt: the question, with what is judged. choices: what may be answered, at least one.

    Raises:
        ModelError: there is no answer, or it is none of the choices. MissingExtra: a package is not installed.
    """
    messages = [{"role": "system", "content": system()}, {"role": "user", "content": prompt}]
    answer = (await model.a_generate(messages, schema=_schema(tuple(choices)), temperature=0.0)).parsed
    return Judgement(answer.answer, answer.reason, prompt)


@lru_cache(maxsize=256)
def _schema(choices: tuple[str, ...]) -> type[BaseModel]:
    """The reason stands first, so that the choice follows from it."""
    from pydantic import Field, create_model

    answer: Any = Literal[choices]
    return create_model(
        "Judgement",
        reason=(str, Field(description="Why, in a few sentences; written before the answer is chosen.")),
        answer=(answer, Field(description="The answer that follows from the reason.")),
    )
