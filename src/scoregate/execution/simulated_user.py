"""Conversations of a simulated user with the target."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
from pydantic import BaseModel, Field, field_validator

from scoregate.errors import EndpointError, ScoregateError
from scoregate.execution.stopping import (
    Bounds,
    ConversationPlan,
    Limits,
    Progress,
    find_ending,
    make_bounds,
    needs_goal_check,
)
from scoregate.grading.prompts import digest_texts, fenced, render_messages
from scoregate.kernel.types.conversation import Conversation, EndReason, GoalVerdict, Turn, without_details
from scoregate.kernel.types.text import truncate_middle

if TYPE_CHECKING:
    from scoregate.kernel.types.conversation import Session
    from scoregate.models import Model


_PROMPTS = Path(__file__).parent / "prompts"


# The schema of `Move`, with its name and docstrings, is part of prompts, cache keys and fingerprints.
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


async def next_move(model: Model, plan: ConversationPlan, turns: Sequence[Turn], *, bounds: Bounds) -> Move:
    """The next move of the user. The prompt is the same in every run.

    Raises:
        ModelError: the model returned no valid move.
        MissingExtra: a required package is not installed.
    """
    messages = turn_messages(plan, turns, bounds)
    move: Move = (await model.a_generate(messages, schema=Move, temperature=0.0)).parsed
    return move


def turn_messages(plan: ConversationPlan, turns: Sequence[Turn], bounds: Bounds) -> list[dict[str, Any]]:
    """The messages for the model: the plan, and the conversation so far between delimiters."""
    so_far = fenced(Conversation(tuple(without_details(turns))).text(), "conversation") if turns else None
    # The text of the template is part of fingerprints, so its names stay.
    turn_bounds = {"most": bounds.max_turns, "least": bounds.min_turns}
    values = {"plan": plan, "bounds": turn_bounds, "number": len(turns) + 1, "conversation": so_far}
    return render_messages(_PROMPTS, "turn", values)


def prompt_version() -> str:
    """A digest of the prompt templates and the schema of the answer."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(_PROMPTS.glob("*.j2")))
    return digest_texts(*texts, json.dumps(Move.model_json_schema(), sort_keys=True))


GoalJudge: TypeAlias = Callable[[Conversation], Awaitable[GoalVerdict]]
_MOST_FINDINGS, _LONGEST_FINDING = 50, 500


async def converse(
    session: Session,
    plan: ConversationPlan,
    *,
    user: Model,
    goal_judge: GoalJudge | None = None,
    limits: Limits | None = None,
) -> Conversation:
    """Let a simulated user talk with a target until a rule ends the conversation.

    Each turn takes one request to the model. The goal judge runs when it can end the conversation: in the last fifth
    of the turns (with `min_turns`: from that turn on), when the user is done, and before another rule ends it, so that
    a goal reached in the last turn counts. Without a judge the conversation ends when the user is done, and
    `goal_achieved` stays None.

    Args:
        session: a new conversation with the target.
        plan: what the user wants.
        user: the model of the simulated user.
        goal_judge: decides whether a conversation reached the goal.
        limits: the limits for plans without limits of their own.

    Raises:
        EndpointError: the target did not reply, or not in time for the first turn.
        ModelError: the model of the user or the judge failed.
        MissingExtra: a required package is not installed. Of each error, `partial_output` is the conversation so far.
    """
    limits = limits or Limits()
    loop = _ConversationLoop(session, plan, user, judge=goal_judge, bounds=make_bounds(plan, limits))
    try:
        with anyio.move_on_after(limits.timeout_s):
            return loop.conversation(await loop.run())
    except ScoregateError as error:
        error.partial_output = loop.conversation(None).plain()
        raise
    if not loop.turns:
        raise EndpointError(f"no reply within the {limits.timeout_s:g} s that a conversation may take", kind="timeout")
    return loop.conversation(EndReason.TIMEOUT)


class _ConversationLoop:
    """The state of a conversation. The verdict is about all turns so far; None if they were not judged."""

    def __init__(
        self, session: Session, plan: ConversationPlan, user: Model, *, judge: GoalJudge | None, bounds: Bounds
    ) -> None:
        self.turns: list[Turn] = []
        self._findings: dict[str, None] = {}
        self._verdict: GoalVerdict | None = None
        self._session, self._plan, self._user = session, plan, user
        self._judge, self._bounds = judge, bounds

    def conversation(self, ended: EndReason | None) -> Conversation:
        """The conversation so far."""
        achieved = None if self._verdict is None else self._verdict.achieved
        return Conversation(tuple(self.turns), ended, achieved, tuple(self._findings))

    async def run(self) -> EndReason:
        """Run turns until a rule ends the conversation."""
        ended: EndReason | None = None
        while ended is None:
            move = await next_move(self._user, self._plan, self.turns, bounds=self._bounds)
            for finding in move.findings if self.turns else ():
                if finding.strip() and len(self._findings) < _MOST_FINDINGS:
                    text = truncate_middle(finding.strip(), _LONGEST_FINDING)
                    self._findings[f"Turn {len(self.turns)}: {text}"] = None
            ended = await self._ending(done=True) if move.done else None
            if ended is None:
                await self._exchange(move)
                ended = await self._ending(done=False)
        return ended

    async def _exchange(self, move: Move) -> None:
        started = perf_counter()
        reply = await self._session.send(move.message)
        named = {} if reply.conversation_id is None else {"conversation_id": reply.conversation_id}
        turn = Turn(
            move.message,
            reply.text,
            reasoning=move.reasoning,
            duration_ms=round((perf_counter() - started) * 1000, 3),
            context=tuple(reply.context),
            tool_calls=tuple(reply.tool_calls),
            metadata={**reply.metadata, **named},
        )
        self.turns.append(turn)
        self._verdict = None

    async def _ending(self, *, done: bool) -> EndReason | None:
        standing = Progress(self.turns, self._verdict, done)
        if self._judge and self._verdict is None and needs_goal_check(standing, self._bounds):
            self._verdict = await self._judge(self.conversation(None))
            standing = Progress(self.turns, self._verdict, done)
        return find_ending(standing, self._bounds)


__all__ = ["ConversationPlan", "GoalJudge", "Limits", "converse"]
