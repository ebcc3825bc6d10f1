"""Hold one conversation: the user speaks, the target answers, until a rule says that it is over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

import anyio

from scoregate.conversations.plan import Bounds, Limits, Plan, bounds
from scoregate.conversations.stopping import Standing, ending, is_to_be_judged
from scoregate.conversations.user import Move, next_move
from scoregate.core.conversation import Conversation, Ended, GoalVerdict, Turn
from scoregate.core.cutting import cut
from scoregate.errors import EndpointError, ScoregateError

if TYPE_CHECKING:
    from scoregate.core.target import Reply, Session
    from scoregate.models import Model

GoalJudge: TypeAlias = Callable[[Conversation], Awaitable[GoalVerdict]]
_FINDINGS, _LONGEST_FINDING = 50, 500


async def converse(
    session: Session, plan: Plan, *, user: Model, goal_judge: GoalJudge | None = None, limits: Limits | None = None
) -> Conversation:
    """Let a model talk to a target until its goal is met, or it is time to stop.

    A turn takes one question to the model. The goal is judged where that can end the conversation: in the last fifth
    of the turns (from the least number on, where the plan has one), where the user thinks that it is done, and before
    it ends otherwise, so that a goal that is met in the very last turn counts. Without a judge the user's word ends
    the conversation, and whether the goal was achieved stays unknown.

    Args:
        session: a conversation with the target, not yet begun. user: the model that plays the user.
        goal_judge: says of a conversation, as far as it went, whether it meets the goal.

    Raises:
        EndpointError: the target gave no reply, or not in time for a first turn.
        ModelError: the user, or the judge, gave no answer. MissingExtra: a package is not installed.
            Each has the conversation as far as it went as `so_far`.
    """
    limits = limits or Limits()
    talk = _Talk(session, plan, user, judge=goal_judge, bounds=bounds(plan, limits))
    try:
        with anyio.move_on_after(limits.timeout_s):
            return talk.conversation(await talk.hold())
    except ScoregateError as error:
        error.so_far = talk.conversation(None).plain()
        raise
    if not talk.turns:
        raise EndpointError(f"no reply within the {limits.timeout_s:g} s that a conversation may take", kind="timeout")
    return talk.conversation(Ended.TIMEOUT)


class _Talk:
    """A conversation as it goes on; `verdict` is of all its turns, None where they were not judged."""

    def __init__(self, session: Session, plan: Plan, user: Model, *, judge: GoalJudge | None, bounds: Bounds) -> None:
        self.turns: list[Turn] = []
        self._findings: dict[str, None] = {}
        self._verdict: GoalVerdict | None = None
        self._session, self._plan, self._user = session, plan, user
        self._judge, self._bounds = judge, bounds

    def conversation(self, ended: Ended | None) -> Conversation:
        """As far as it went."""
        achieved = None if self._verdict is None else self._verdict.achieved
        return Conversation(tuple(self.turns), ended, achieved, tuple(self._findings))

    async def hold(self) -> Ended:
        """Turn after turn, until it is over."""
        ended: Ended | None = None
        while ended is None:
            move = await next_move(self._user, self._plan, self.turns, bounds=self._bounds)
            self._note(move.findings)
            ended = await self._ending(done=True) if move.done else None
            if ended is None:
                await self._exchange(move)
                ended = await self._ending(done=False)
        return ended

    async def _exchange(self, move: Move) -> None:
        started = perf_counter()
        reply = await self._session.send(move.message)
        self.turns.append(_turn(move, reply, (perf_counter() - started) * 1000))
        self._verdict = None

    async def _ending(self, *, done: bool) -> Ended | None:
        standing = Standing(self.turns, self._verdict, done)
        if self._judge and self._verdict is None and is_to_be_judged(standing, self._bounds):
            self._verdict = await self._judge(self.conversation(None))
            standing = Standing(self.turns, self._verdict, done)
        return ending(standing, self._bounds)

    def _note(self, findings: Iterable[str]) -> None:
        """Findings are of the last answer."""
        for finding in findings if self.turns else ():
            if finding.strip() and len(self._findings) < _FINDINGS:
                self._findings[f"Turn {len(self.turns)}: {cut(finding.strip(), _LONGEST_FINDING)}"] = None


def _turn(move: Move, reply: Reply, duration_ms: float) -> Turn:
    named = {} if reply.conversation_id is None else {"conversation_id": reply.conversation_id}
    return Turn(
        move.message,
        reply.text,
        reasoning=move.reasoning,
        duration_ms=round(duration_ms, 3),
        context=tuple(reply.context),
        tool_calls=tuple(reply.tool_calls),
        metadata={**reply.metadata, **named},
    )
