"""The content of a test: a prompt, or the configuration of a conversation."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from scoregate.entities.base import EntityModel


class Prompt(EntityModel):
    """The message of a single-turn test. `language_code` is of both texts. An empty `expected_response` is None."""

    content: str
    expected_response: Annotated[str | None, AfterValidator(lambda text: text or None)] = None
    language_code: str = Field(default="en", min_length=1)
    id: str | None = None


class TestConfiguration(EntityModel):
    """The plan of a simulated user: goal, instructions, scenario, and restrictions of the assistant to probe.

    `max_turns` and `min_turns` are at least 1.
    """

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
