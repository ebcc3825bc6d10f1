"""Targets, users and judges of goals that answer by a script."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import anyio
from tests.fakes.openai import OpenAIServer

from scoregate.execution.simulated_user import converse
from scoregate.execution.stopping import ConversationPlan, Limits
from scoregate.kernel.types.cleanup import close_at_end
from scoregate.kernel.types.conversation import Conversation, GoalVerdict, Reply
from scoregate.models import get_model

PLAN = ConversationPlan("Find out the opening hours")
TURN = re.compile(r"It is your turn (\d+) of at most")


class Scripted:
    """A session that gives these replies, then repeats the last. An exception is raised. `heard` has the messages."""

    def __init__(self, *replies: Any, delay_s: float = 0.0) -> None:
        self._replies, self._delay_s = replies, delay_s
        self.heard: list[str] = []

    async def send(self, message: str) -> Reply:
        self.heard.append(message)
        await anyio.sleep(self._delay_s)
        reply = self._replies[min(len(self.heard), len(self._replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Reply) else Reply(reply)


def set_user_messages(server: OpenAIServer, say: Callable[[int], Any]) -> None:
    """The user's moves, by the number of the turn: a message, or all of a move."""

    def script(question: Any) -> Any:
        if (turn := TURN.search(question.last)) is None:
            return None
        move = say(int(turn[1]))
        return {"findings": [], "done": False, **({"message": move} if isinstance(move, str) else move)}

    server.answer_with(script)


def scripted_judge(*verdicts: GoalVerdict | bool) -> tuple[Any, list[Conversation]]:
    """A judge that gives these verdicts, the last of them for ever, and the conversations that it was shown."""
    texts: list[Conversation] = []

    async def judge(conversation: Conversation) -> GoalVerdict:
        texts.append(conversation)
        verdict = verdicts[min(len(texts), len(verdicts)) - 1]
        return verdict if isinstance(verdict, GoalVerdict) else GoalVerdict(verdict, float(verdict))

    return judge, texts


def run_conversation(
    session: Scripted, plan: ConversationPlan = PLAN, *, judge: Any = None, limits: Limits | None = None
) -> Conversation:
    """Hold a conversation to its end."""

    async def hold() -> Conversation:
        async with close_at_end():
            model = get_model("openai/user")
            return await converse(session, plan, user=model, goal_judge=judge, limits=limits)

    return anyio.run(hold)


def prompts(server: OpenAIServer) -> list[Sequence[dict[str, str]]]:
    """The messages that the user's model was asked with."""
    return [body["messages"] for body in server.asked()]
