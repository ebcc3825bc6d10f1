"""Grade one output or one conversation with a metric, without a suite."""

from __future__ import annotations

import abc
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from scoregate.engine.sync import run_sync_and_close
from scoregate.enums import TestType
from scoregate.errors import MetricError
from scoregate.grading.subject import Subject
from scoregate.kernel.types.conversation import Conversation, Turn
from scoregate.kernel.types.json_io import to_text
from scoregate.metrics.metric import MetricResult

MULTI_TURN = (TestType.MULTI_TURN,)
_USER, _ASSISTANT = "user", "assistant"
_IGNORED_ROLES = ("system", "developer", "tool")
_DETAILS = ("tool_calls", "context", "metadata")


@dataclass(frozen=True, slots=True)
class ConversationHistory:
    """A conversation turn by turn: a message of the user and the assistant's answer."""

    turns: tuple[Turn, ...]

    @classmethod
    def from_messages(cls, messages: Iterable[Mapping[str, Any]]) -> ConversationHistory:
        """Read messages as models take them, `{"role": …, "content": …}`; those of the system and of tools are skipped.

        A message of the assistant may have `tool_calls`, a `context` and `metadata`, which judges see.

        Raises:
            MetricError: a message has another role, no text, or a field of another type.
        """
        turns: list[Turn] = []
        question: str | None = None
        for number, message in enumerate(messages, 1):
            role, content = message.get("role"), message.get("content")
            text = content if isinstance(content, str) else ""
            if role not in (_USER, _ASSISTANT, *_IGNORED_ROLES):
                raise MetricError(f"message {number}: its role is {role!r:.60}, which is neither user nor assistant")
            # A message that only calls tools has None as its content.
            has_details = content is None and any(message.get(name) for name in _DETAILS)
            needs_text = role not in _IGNORED_ROLES and not has_details
            if needs_text and not isinstance(content, str):
                raise MetricError(f"message {number}: its content must be a string, not {content!r:.60}")
            if role == _ASSISTANT:
                turns.append(Turn(question or "", text, **_read_details(message, number)))
                question = None
            elif role == _USER:
                question = text if question is None else f"{question}\n\n{text}"
        return cls((*turns, *([] if question is None else [Turn(question, "")])))

    @classmethod
    def from_conversation(cls, conversation: Conversation) -> ConversationHistory:
        """The history of a conversation from a test."""
        return cls(conversation.turns)

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages in their order; empty ones are left out."""
        return [message for message in Conversation(self.turns).messages() if message["content"]]

    def __len__(self) -> int:
        return len(self.messages)


def _read_details(message: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The fields of a message of the assistant besides its text."""
    details: dict[str, Any] = {}
    for name in ("context", "tool_calls"):
        values = message.get(name) or ()
        if not isinstance(values, list | tuple):
            raise MetricError(f"message {number}: its {name} must be a list, not {values!r:.60}")
        details[name] = tuple(values)
    details["context"] = tuple(map(to_text, details["context"]))
    details["metadata"] = message.get("metadata") or {}
    if not isinstance(details["metadata"], Mapping):
        raise MetricError(f"message {number}: its metadata must be a dict, not {details['metadata']!r:.60}")
    return details


class OfOutputs(abc.ABC):
    """A metric that can grade one output without a suite. Its name is in fingerprints of stored runs, so it stays."""

    def evaluate(
        self,
        input: str = "",  # noqa: A002
        output: str = "",
        expected_output: str | None = None,
        context: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        tool_calls: Sequence[Mapping[str, Any]] | None = None,
        *,
        conversation_history: ConversationHistory | None = None,
        behavior: str = "",
    ) -> MetricResult:
        """Grade one output.

        Args:
            input: the question.
            output: the answer, which is graded.
            expected_output: the right answer.
            context: the texts that were retrieved for the answer.
            metadata: other facts about the answer, which judges see too.
            tool_calls: the tool calls of the answer.
            conversation_history: a conversation, which is graded instead of the output.
            behavior: the behavior that the test expects, for metrics that need one.

        Returns:
            The result; if a model fails, a result without a score and with the error.

        Raises:
            MetricError: an argument has another type, or this metric needs one that is missing.
        """
        call = partial(self.a_evaluate, input, output, expected_output, context, metadata, tool_calls)
        return run_sync_and_close(partial(call, conversation_history=conversation_history, behavior=behavior))

    async def a_evaluate(
        self,
        input: str = "",  # noqa: A002
        output: str = "",
        expected_output: str | None = None,
        context: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        tool_calls: Sequence[Mapping[str, Any]] | None = None,
        *,
        conversation_history: ConversationHistory | None = None,
        behavior: str = "",
    ) -> MetricResult:
        """Grade one output in this event loop; see `evaluate`."""
        _check_texts(input=input, output=output)
        if expected_output is not None:
            _check_texts(expected_output=expected_output)
        texts = () if context is None else context
        if not isinstance(texts, list | tuple) or not all(isinstance(each, str) for each in texts):
            raise MetricError(f"context must be a list of strings, not {context!r:.60} ({type(context).__name__})")
        subject = Subject(
            input,
            output,
            expected_output,
            texts,
            metadata or {},
            tool_calls or (),
            None if conversation_history is None else _to_conversation(conversation_history),
            behavior=behavior,
        )
        return await self.assessed(subject)

    @abc.abstractmethod
    async def assessed(self, subject: Subject) -> MetricResult:
        """Grade a subject."""


class OfConversations(abc.ABC):
    """A metric that can grade a conversation without a suite. Its name is in fingerprints, as that of `OfOutputs`."""

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
            conversation_history: the conversation.
            goal: the user's goal.
            instructions: how the user pursues it.
            scenario: the user's situation.
            restrictions: what the assistant must not do.

        Returns:
            The result; if a model fails, a result without a score and with the error.

        Raises:
            MetricError: an argument has another type, or this metric needs one that is missing.
        """
        texts = (goal, instructions, scenario, restrictions)
        return run_sync_and_close(partial(self.a_evaluate, conversation_history, *texts))

    async def a_evaluate(
        self,
        conversation_history: ConversationHistory,
        goal: str = "",
        instructions: str = "",
        scenario: str = "",
        restrictions: str = "",
    ) -> MetricResult:
        """Grade a conversation in this event loop; see `evaluate`."""
        _check_texts(goal=goal, instructions=instructions, scenario=scenario, restrictions=restrictions)
        subject = Subject(
            conversation=_to_conversation(conversation_history),
            goal=goal,
            instructions=instructions,
            scenario=scenario,
            restrictions=restrictions,
        )
        return await self.assessed(subject)

    @abc.abstractmethod
    async def assessed(self, subject: Subject) -> MetricResult:
        """Grade a subject."""


def _check_texts(**texts: object) -> None:
    for name, value in texts.items():
        if not isinstance(value, str):
            advice = "Serialize dicts and lists with json.dumps(…)."
            raise MetricError(f"{name} must be a string, not {value!r:.60} ({type(value).__name__})", advice=advice)


def _to_conversation(history: ConversationHistory | Conversation) -> Conversation:
    if not isinstance(history, ConversationHistory | Conversation):
        advice = "Make one with ConversationHistory.from_messages([…])."
        raise MetricError(f"conversation_history must be a ConversationHistory, not {history!r:.60}", advice=advice)
    if not history.turns:
        raise MetricError("conversation_history is empty: there is nothing to grade")
    return Conversation(history.turns)


def check_scope(name: str, scope: Collection[TestType | str]) -> None:
    """Check the scope of a judge of conversations.

    Raises:
        MetricError: it includes other tests.
    """
    if tuple(scope) != MULTI_TURN:
        raise MetricError(f"{name!r:.60} judges conversations: its metric_scope is {str(TestType.MULTI_TURN)!r} alone")


def check_conversation(name: str, subject: Subject) -> None:
    """Check the subject of a judge of conversations.

    Raises:
        MetricError: it has no conversation, or an empty one.
    """
    if not subject.turns:
        raise MetricError(f"{name!r:.60} judges conversations, and there is none here")
