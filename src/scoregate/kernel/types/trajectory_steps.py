"""The steps of a trajectory: messages and tool calls, and their form in the record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from scoregate.kernel.types.json_io import dump, to_plain, to_text
from scoregate.kernel.types.text import parse_amount, truncate_middle

TYPE = "trajectory"
MOST_STEPS = 1_000
LONGEST_NAME = 200
_MCP_PREFIX, _SEPARATOR = "mcp__", "__"
# The longest text of a call that is reported by itself.
_LONGEST_CALL = 4_000

Role: TypeAlias = Literal["user", "assistant", "system", "reasoning"]
ROLES: tuple[Role, ...] = ("user", "assistant", "system", "reasoning")


@dataclass(frozen=True, slots=True)
class Message:
    """A message to the agent or from it.

    Attributes:
        role: "user", "assistant", "system", or "reasoning" for what a model reports of its thoughts.
        text: the text.
        agent: the name of the sub-agent; empty for the agent itself.
    """

    role: Role
    text: str
    agent: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool.

    Attributes:
        name: the name of the tool.
        arguments: the arguments by name. A text that is not a JSON object is under the name "".
        result: the result; None if it is unknown.
        error: the error message; None without an error.
        duration_s: the duration in seconds; None if it is unknown.
        tokens: the tokens that the call used; None if they are unknown.
        agent: the name of the sub-agent that calls; empty for the agent itself.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    error: str | None = None
    duration_s: float | None = None
    tokens: int | None = None
    agent: str = ""

    def __str__(self) -> str:
        given = ", ".join(
            f"{name}={to_text(value)}" if name else to_text(value) for name, value in self.arguments.items()
        )
        return f"{self.name}({truncate_middle(given, LONGEST_NAME)})"


Step: TypeAlias = Message | ToolCall


def strip_server(name: str) -> str:
    """The name of a tool without that of its MCP server: "search" for "mcp__shop__search", as agents call it."""
    return name.split(_SEPARATOR, 2)[2] if name.startswith(_MCP_PREFIX) and name.count(_SEPARATOR) > 1 else name


def to_plain_step(step: Step, longest: int) -> dict[str, Any]:
    """A step as plain data for the record.

    Args:
        step: the step.
        longest: the maximum length of each text in characters; at least 100.
    """
    if isinstance(step, Message):
        data: dict[str, Any] = {"role": step.role, "text": truncate_middle(step.text, longest)}
    else:
        data = {"tool": step.name[:LONGEST_NAME], "arguments": _bound_value(dict(step.arguments), longest)}
        if step.result is not None:
            data["result"] = _bound_value(step.result, longest)
        if step.error is not None:
            data["error"] = truncate_middle(step.error, longest)
        data |= {name: value for name in ("duration_s", "tokens") if (value := getattr(step, name)) is not None}
    if step.agent:
        data["agent"] = step.agent[:LONGEST_NAME]
    return data


def _bound_value(value: Any, longest: int) -> Any:
    """A value as plain data; its JSON text, truncated in the middle, if that is longer."""
    if isinstance(value, str):
        return truncate_middle(value, longest)
    plain = to_plain(value)
    text = dump(plain).decode()
    if len(text) <= longest:
        return plain
    if not isinstance(plain, dict):
        return truncate_middle(text, longest)
    share = max(100, longest // (2 * max(1, len(plain))))
    shown = {str(name)[:LONGEST_NAME]: _bound_value(each, share) for name, each in list(plain.items())[:LONGEST_NAME]}
    return shown if len(dump(shown)) <= 2 * longest else {"": truncate_middle(text, longest)}


def read_step(value: object) -> Step | None:
    """Read a step from the result of `to_plain_step`, also after JSON; None for any other value."""
    if not isinstance(value, Mapping):
        return None
    agent = value.get("agent")
    agent = agent if isinstance(agent, str) else ""
    role, text, name = value.get("role"), value.get("text"), value.get("tool")
    if role in ROLES and isinstance(text, str):
        return Message(role, text, agent)
    if not isinstance(name, str):
        return None
    arguments, error = value.get("arguments"), value.get("error")
    tokens = parse_amount(value.get("tokens"))
    return ToolCall(
        name,
        arguments if isinstance(arguments, dict) else {},
        value.get("result"),
        None if error is None else str(error),
        parse_amount(value.get("duration_s")),
        None if tokens is None else int(tokens),
        agent,
    )


def add_tool_call(trace: Any, call: ToolCall) -> Any:
    """The trace of a case with one more call, for suites that report calls one by one.

    Args:
        trace: what `Trajectory.plain` returned, which is changed; None before the first call; or another trace, which
            stays as it is.
        call: the call.
    """
    if trace is None:
        trace = {"type": TYPE, "steps": []}
    if isinstance(trace, dict) and trace.get("type") == TYPE and isinstance(steps := trace.get("steps"), list):
        if len(steps) < MOST_STEPS:
            steps.append(to_plain_step(call, _LONGEST_CALL))
        else:
            trace["left_out"] = trace.get("left_out", 0) + 1
    return trace
