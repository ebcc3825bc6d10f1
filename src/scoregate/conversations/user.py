"""The simulated user: what it makes of the last answer, and what it says next, in one question to a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, field_validator

from scoregate.conversations.plan import Bounds, Plan
from scoregate.core.conversation import Conversation, Turn
from scoregate.judging import fenced
from scoregate.judging.templates import digest, messages

if TYPE_CHECKING:
    from scoregate.models import Model

_PROMPTS = Path(__file__).parent / "prompts"


class Move(BaseModel):
    """One move of the simulated user. What it notes stands before what it says, so that this follows from that."""

    reasoning: str = Field(description="What the last answer shows, and why you go on as you do; in a few sentences.")
    findings: list[str] = Field(
        description="What the last answer shows that matters for the goal or the restrictions and was not known "
        "before, each in one sentence; empty where there is nothing."
    )
    done: bool = Field(description="Whether the goal is met, or nothing is left that could be tried.")
    message: str = Field(description="What you say to the assistant next, or would say if you were not done.")

    @field_validator("message")
    @classmethod
    def _says_something(cls, message: str) -> str:
        if not message.strip():
            raise ValueError("say something")
        return message


async def next_move(model: Model, plan: Plan, turns: Sequence[Turn], *, bounds: Bounds) -> Move:
    """What the user does after these turns. Nothing that changes from run to run is asked.

    Raises:
        ModelError: the model gave no answer that is one. MissingExtra: a package is not installed.
    """
    asked = prompt(plan, turns, bounds)
    move: Move = (await model.a_generate(asked, schema=Move, temperature=0.0)).parsed
    return move


def prompt(plan: Plan, turns: Sequence[Turn], bounds: Bounds) -> list[dict[str, Any]]:
    """The messages for the model: what the test says, then the conversation so far, as data between fences."""
    so_far = fenced(Conversation(tuple(turns)).text(), "conversation") if turns else None
    words = {"plan": plan, "bounds": bounds, "number": len(turns) + 1, "conversation": so_far}
    return messages(_PROMPTS, "turn", words)


def prompt_version() -> str:
    """A digest of all that the user is told and asked besides plans and turns."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(_PROMPTS.glob("*.j2")))
    return digest(*texts, json.dumps(Move.model_json_schema(), sort_keys=True))
