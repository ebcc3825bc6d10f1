"""What came back for a test, as metrics judge it, as evaluators get it, and as the record keeps it."""

from __future__ import annotations

from typing import Any, TypeAlias

from scoregate.core.conversation import Conversation
from scoregate.core.target import Reply
from scoregate.entities.execution.asked import Asked
from scoregate.judging import text_of
from scoregate.metrics import Subject

Answer: TypeAlias = Reply | Conversation


def subject_of(test: Asked, answer: Answer) -> Subject:
    """As metrics judge it."""
    prompt, plan = test.prompt, test.test_configuration
    labels: dict[str, Any] = {name: getattr(test, name) or "" for name in ("behavior", "category", "topic")}
    if isinstance(answer, Conversation):
        labels |= {name: getattr(plan, name, "") for name in ("goal", "instructions", "scenario", "restrictions")}
        return Subject(conversation=answer, **labels)
    return Subject(
        input=prompt.content if prompt else "",
        output=text_of(answer.output),
        expected_output=prompt.expected_response if prompt else None,
        context=answer.context,
        metadata=answer.metadata,
        tool_calls=answer.tool_calls,
        **labels,
    )


def seen(answer: Answer) -> Any:
    """As evaluators get it: the output, or the conversation."""
    return answer.output if isinstance(answer, Reply) else answer


def recorded(answer: Answer) -> Any:
    """As the record keeps it."""
    return answer.output if isinstance(answer, Reply) else answer.plain()


def beside(answer: Answer) -> dict[str, Any] | None:
    """What the record keeps of how an output came about; of a conversation that is said in its turns."""
    if isinstance(answer, Conversation):
        return None
    told = {"context": list(answer.context), "tool_calls": list(answer.tool_calls), "metadata": dict(answer.metadata)}
    return {name: value for name, value in told.items() if value} or None
