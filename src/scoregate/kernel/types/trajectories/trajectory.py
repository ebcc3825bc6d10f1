"""Trajectories: what an agent did for one case, as messages and tool calls in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scoregate.kernel.types.json_io import to_text
from scoregate.kernel.types.text import parse_amount, truncate_middle
from scoregate.kernel.types.trajectories.messages import read_messages
from scoregate.kernel.types.trajectories.otlp import drop_repeated, read_otlp
from scoregate.kernel.types.trajectories.spans import explain_unseen_calls, has_tools_or_chats, read_spans
from scoregate.kernel.types.trajectory_steps import (
    LONGEST_NAME,
    MOST_STEPS,
    TYPE,
    Message,
    Step,
    ToolCall,
    read_step,
    to_plain_step,
)

LONGEST_TEXT = 20_000
LONGEST_REASON = 500
MOST_FILES = 1_000
_LONGEST_SHOWN = 4_000
# The texts of a trajectory together. More than that, and each text is cut to its share.
_LONGEST_TRAJECTORY = 2_000_000


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What an agent did for one case. A task may return one; its output is then the last message of the agent.

    Attributes:
        steps: the messages and tool calls, in order.
        output: the result of the agent; None for its last message.
        changed_files: the files that it changed, relative to its workspace; None if this was not recorded.
        workspace: the folder that it worked in, while the scorers run; None without one.
        stop_reason: why it stopped, in the words of its source; empty if unknown.
        left_out: the number of steps that were not recorded because there were too many.
        incomplete: why tool calls may be missing among the steps; empty if all are recorded.
    """

    steps: Sequence[Step] = ()
    output: Any = None
    changed_files: Sequence[str] | None = None
    workspace: str | None = None
    stop_reason: str = ""
    left_out: int = 0
    incomplete: str = ""

    @staticmethod
    def from_messages(messages: Iterable[Any], **details: Any) -> Trajectory:
        """The trajectory of a list of messages, as OpenAI's or Anthropic's APIs take and return them.

        Args:
            messages: messages of chats (`role`, `content`, `tool_calls`), items of the Responses API, or messages of
                Anthropic with their blocks; dicts or objects of the SDKs.
            details: other attributes of the trajectory, such as `changed_files`.

        Raises:
            TypeError: a message is neither a dict nor an object with a role or a type.
        """
        return Trajectory(tuple(read_messages(messages)), **details)

    @staticmethod
    def from_otlp(data: bytes | str, *, trace_id: str | None = None, **details: Any) -> Trajectory:
        """The trajectory of spans of OpenTelemetry, of the conventions for generative AI or of OpenInference.

        Args:
            data: the content of an OTLP file: JSON, JSON lines, or protobuf (needs `scoregate[otlp]`); also gzipped.
            trace_id: the id of the trace, if the file has several; default: all spans.
            details: other attributes of the trajectory, such as `changed_files`. Without `incomplete`, it is set if the
                spans don't show the calls of tools.

        Raises:
            OtlpError: it is not OTLP, or over 64 MB.
            MissingExtra: it is protobuf, and opentelemetry-proto is not installed.
        """
        spans = drop_repeated(each for each in read_otlp(data) if trace_id in (None, each.trace_id))
        unseen = explain_unseen_calls(spans) if has_tools_or_chats(spans) else "no span is that of a tool or a model"
        return Trajectory(tuple(read_spans(spans)), **{"incomplete": unseen, **details})

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The tool calls, in order."""
        return [step for step in self.steps if isinstance(step, ToolCall)]

    @property
    def messages(self) -> list[Message]:
        """The messages, in order."""
        return [step for step in self.steps if isinstance(step, Message)]

    @property
    def agents(self) -> list[str]:
        """The names of the sub-agents, in the order of their first step."""
        return list(dict.fromkeys(step.agent for step in self.steps if step.agent))

    @property
    def final_output(self) -> Any:
        """The output; without one the last message of the agent itself, or an empty text."""
        if self.output is not None:
            return self.output
        texts = (each.text for each in reversed(self.messages) if each.role == "assistant" and not each.agent)
        return next(texts, "")

    def plain(self) -> dict[str, Any]:
        """The trajectory as plain data for the record, bounded and without empty fields."""
        kept = self.steps[:MOST_STEPS]
        longest = max(500, min(LONGEST_TEXT, _LONGEST_TRAJECTORY // max(1, len(kept))))
        data: dict[str, Any] = {"type": TYPE, "steps": [to_plain_step(step, longest) for step in kept]}
        if self.changed_files is not None:
            data["changed_files"] = [str(path)[:1_000] for path in self.changed_files[:MOST_FILES]]
        if self.stop_reason:
            data["stop_reason"] = self.stop_reason[:LONGEST_NAME]
        if left_out := self.left_out + len(self.steps) - len(kept):
            data["left_out"] = left_out
        if self.incomplete:
            data["incomplete"] = self.incomplete[:LONGEST_REASON]
        return data

    @staticmethod
    def read(value: object) -> Trajectory | None:
        """Read a trajectory from the result of `plain`, also after JSON; None for any other value."""
        if not isinstance(value, Mapping) or value.get("type") != TYPE or not isinstance(value.get("steps"), list):
            return None
        steps = tuple(step for each in value["steps"] if (step := read_step(each)) is not None)
        files = value.get("changed_files")
        lost = len(value["steps"]) - len(steps)
        return Trajectory(
            steps,
            changed_files=[str(path) for path in files] if isinstance(files, list) else None,
            stop_reason=str(value.get("stop_reason") or ""),
            left_out=lost + int(parse_amount(value.get("left_out")) or 0),
            incomplete=str(value.get("incomplete") or ""),
        )

    def text(self, longest: int = LONGEST_TEXT) -> str:
        """Render the trajectory for judges: one numbered step per paragraph, without times.

        Args:
            longest: the maximum length in characters; a longer text is truncated in the middle.
        """
        lines = list(self._lines())
        if self.changed_files is not None:
            lines.append(f"Changed files: {', '.join(map(str, self.changed_files)) or 'none'}")
        return truncate_middle("\n".join(lines), longest)

    def _lines(self) -> Iterator[str]:
        for number, step in enumerate(self.steps, 1):
            agent = f" ({step.agent})" if step.agent else ""
            if isinstance(step, Message):
                yield f"{number}. {step.role}{agent}: {truncate_middle(step.text, _LONGEST_SHOWN)}"
                continue
            yield f"{number}. tool{agent}: {step.name}({truncate_middle(to_text(step.arguments), _LONGEST_SHOWN)})"
            if step.error is not None:
                yield f"   error: {truncate_middle(step.error, _LONGEST_SHOWN)}"
            elif step.result is not None:
                yield f"   result: {truncate_middle(to_text(step.result), _LONGEST_SHOWN)}"
        if self.left_out:
            yield f"… {self.left_out:,} steps left out …"
