"""Metrics called by themselves, on a conversation."""

from __future__ import annotations

import abc
from collections.abc import Collection
from functools import partial

from scoregate.engine.sync import run_closing
from scoregate.enums import TestType
from scoregate.errors import MetricError
from scoregate.metrics.grade import MetricResult
from scoregate.metrics.history import ConversationHistory, conversation_of
from scoregate.metrics.outputs import checked_text
from scoregate.metrics.subject import Subject

MULTI_TURN = (TestType.MULTI_TURN,)


class OfConversations(abc.ABC):
    """A metric that can grade a conversation without a suite."""

    def evaluate(
        self,
        conversation_history: ConversationHistory,
        goal: str = "",
        instructions: str = "",
        scenario: str = "",
        restrictions: str = "",
    ) -> MetricResult:
        """Grade a conversation.

        Args:
            goal: what the user wanted. instructions: how the user went about it. scenario: who the user was.
            restrictions: what the assistant must not do.

        Returns:
            The result; where a model fails, one without a score and with the error.

        Raises:
            MetricError: what is given is not what this metric needs.
        """
        said = (goal, instructions, scenario, restrictions)
        return run_closing(partial(self.a_evaluate, conversation_history, *said))

    async def a_evaluate(
        self,
        conversation_history: ConversationHistory,
        goal: str = "",
        instructions: str = "",
        scenario: str = "",
        restrictions: str = "",
    ) -> MetricResult:
        """As `evaluate`, in this event loop."""
        checked_text(goal, "goal")
        checked_text(instructions, "instructions")
        checked_text(scenario, "scenario")
        checked_text(restrictions, "restrictions")
        subject = Subject(
            conversation=conversation_of(conversation_history),
            goal=goal,
            instructions=instructions,
            scenario=scenario,
            restrictions=restrictions,
        )
        return await self.assessed(subject)

    @abc.abstractmethod
    async def assessed(self, subject: Subject) -> MetricResult:
        """As `Metric.assessed`."""


def check_scope(name: str, scope: Collection[TestType | str]) -> None:
    """Hold the scope of a judge of conversations against what there is to judge.

    Raises:
        MetricError: it is for other tests too.
    """
    if tuple(scope) != MULTI_TURN:
        raise MetricError(f"{name!r:.60} judges conversations: its metric_scope is {str(TestType.MULTI_TURN)!r} alone")


def check_conversation(name: str, subject: Subject) -> None:
    """Hold a subject against what a judge of conversations needs.

    Raises:
        MetricError: it is no conversation, or nothing was said.
    """
    if not subject.turns:
        raise MetricError(f"{name!r:.60} judges conversations, and there is none here")
