"""Metrics called by themselves, on one output; or on a conversation, where it is given."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from scoregate.engine.sync import run_closing
from scoregate.errors import MetricError
from scoregate.metrics.grade import MetricResult
from scoregate.metrics.history import ConversationHistory, conversation_of
from scoregate.metrics.subject import Subject


class OfOutputs(abc.ABC):
    """A metric that can grade one output without a suite."""

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
            input: what was asked. output: what is graded. expected_output: what would have been right.
            context: what was looked up for it. metadata, tool_calls: what else is known of it.
            conversation_history: a conversation, which is then graded in place of the output.
            behavior: what the test expects, for metrics that look for that.

        Returns:
            The result; where a model fails, one without a score and with the error.

        Raises:
            MetricError: what is given is not what this metric needs.
        """
        given = partial(self.a_evaluate, input, output, expected_output, context, metadata, tool_calls)
        return run_closing(partial(given, conversation_history=conversation_history, behavior=behavior))

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
        """As `evaluate`, in this event loop."""
        checked_text(input, "input")
        checked_text(output, "output")
        if expected_output is not None:
            checked_text(expected_output, "expected_output")
        subject = Subject(
            input,
            output,
            expected_output,
            checked_context(context),
            metadata or {},
            tool_calls or (),
            None if conversation_history is None else conversation_of(conversation_history),
            behavior=behavior,
        )
        return await self.assessed(subject)

    @abc.abstractmethod
    async def assessed(self, subject: Subject) -> MetricResult:
        """As `Metric.assessed`."""


def checked_text(value: object, name: str) -> None:
    """Hold what was given against what can be graded.

    Raises:
        MetricError: it is no string.
    """
    if not isinstance(value, str):
        advice = "Serialize dicts and lists with json.dumps(…)."
        raise MetricError(f"{name} must be a string, not {value!r:.60} ({type(value).__name__})", advice=advice)


def checked_context(context: object) -> Sequence[str]:
    """The context, none if it is not given.

    Raises:
        MetricError: it is no list of strings.
    """
    if context is None:
        return ()
    if not isinstance(context, list | tuple) or not all(isinstance(each, str) for each in context):
        raise MetricError(f"context must be a list of strings, not {context!r:.60} ({type(context).__name__})")
    return context
