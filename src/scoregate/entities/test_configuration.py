"""How a conversation is to be led, as tests say it."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from scoregate.entities.base import Part


class TestConfiguration(Part):
    """How a simulated user leads a conversation: what for, by what instructions, in what scenario, probing which
    restrictions of the other side; `max_turns` and `min_turns` are at least 1."""

    __test__ = False

    goal: str = Field(min_length=1)
    instructions: str = ""
    restrictions: str = ""
    scenario: str = ""
    max_turns: int | None = Field(default=None, ge=1)
    min_turns: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.max_turns and self.min_turns and self.min_turns > self.max_turns:
            raise ValueError(f"min_turns, {self.min_turns}, is more than max_turns, {self.max_turns}")
        return self
