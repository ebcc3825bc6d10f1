"""What the tests ask, and how."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel

from scoregate.models import Generation, Model

Ask: TypeAlias = Callable[..., Generation]


class Grade(BaseModel):
    """The answer of a judge."""

    reason: str
    choice: Literal["A", "B"]


def ask_sync(model: Model, prompt: str, **options: Any) -> Generation:
    return model.generate(prompt, **options)


def ask_async(model: Model, prompt: str, **options: Any) -> Generation:
    async def ask() -> Generation:
        from scoregate.kernel.types.cleanup import close_at_end

        async with close_at_end():
            return await model.a_generate(prompt, **options)

    return asyncio.run(ask())


BOTH = [ask_sync, ask_async]


def user(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]
