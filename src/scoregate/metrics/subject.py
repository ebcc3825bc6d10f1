"""What metrics judge: one output, or a conversation, and what its test says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scoregate.core.conversation import Conversation
from scoregate.enums import TestType
from scoregate.judging import text_of


@dataclass(frozen=True, slots=True)
class Subject:
    """The output of one test, or its conversation, and all that judges are shown beside it.

    `context` is what was looked up for the output. Judges are shown `metadata` as well: what changes from run to run,
    such as times and ids, does not belong there.
    """

    input: str = ""
    output: str = ""
    expected_output: str | None = None
    context: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tool_calls: Sequence[Mapping[str, Any]] = ()
    conversation: Conversation | None = None
    goal: str = ""
    instructions: str = ""
    scenario: str = ""
    restrictions: str = ""
    behavior: str = ""
    category: str = ""
    topic: str = ""

    @property
    def test_type(self) -> TestType:
        """Whether this is one output or a conversation."""
        return TestType.SINGLE_TURN if self.conversation is None else TestType.MULTI_TURN

    @property
    def turns(self) -> int:
        """How many the conversation has; 0 where there is none."""
        return 0 if self.conversation is None else len(self.conversation.turns)

    def blocks(self) -> dict[str, str]:
        """What judges are shown, by name: what is judged comes last, and what there is nothing of is left out."""
        if self.conversation is not None:
            return {**_known(self._of_conversation()), "conversation": self.conversation.text()}
        return {**_known(self._of_output()), "output": self.output}

    def _of_output(self) -> dict[str, Any]:
        beside = {"input": self.input, "expected output": self.expected_output, "context": self.context}
        return {**beside, "tool calls": self.tool_calls, "metadata": self.metadata}

    def _of_conversation(self) -> dict[str, Any]:
        user = {"goal": self.goal, "scenario": self.scenario, "instructions to the user": self.instructions}
        return {**user, "restrictions of the assistant": self.restrictions}


def _known(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: text_of(value) for name, value in values.items() if value}
