"""A subject: what is graded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scoregate.enums import TestType
from scoregate.kernel.types.conversation import Conversation
from scoregate.kernel.types.json_io import to_text


@dataclass(frozen=True, slots=True)
class Subject:
    """The output of one test, its conversation or a row of a dataset, with everything that graders may look at.

    Prompts show `metadata` as well, so it must not contain what changes from run to run, such as times and ids.

    Attributes:
        input: the question.
        output: the answer; None if there is none.
        expected_output: the right answer.
        context: the texts that were retrieved for the answer.
        trace: what an agent did, as text.
        fields: values that prompts ask for by name.
        example: what judges in code are called with.
    """

    input: str = ""
    output: Any = ""
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
    trace: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    example: Any = None

    @property
    def test_type(self) -> TestType:
        """Whether this is one output or a conversation."""
        return TestType.SINGLE_TURN if self.conversation is None else TestType.MULTI_TURN

    @property
    def turns(self) -> int:
        """The number of turns of the conversation; 0 without one."""
        return 0 if self.conversation is None else len(self.conversation.turns)

    def blocks(self) -> dict[str, str]:
        """The parts that a prompt shows, by name; what is graded comes last, and empty parts are left out."""
        if self.conversation is None:
            parts: dict[str, Any] = {
                "input": self.input,
                "expected output": self.expected_output,
                "context": self.context,
                "tool calls": self.tool_calls,
                "metadata": self.metadata,
            }
            graded = {"output": to_text(self.output)}
        else:
            parts = {
                "goal": self.goal,
                "scenario": self.scenario,
                "instructions to the user": self.instructions,
                "restrictions of the assistant": self.restrictions,
            }
            graded = {"conversation": self.conversation.text()}
        return {**{name: to_text(value) for name, value in parts.items() if value}, **graded}
