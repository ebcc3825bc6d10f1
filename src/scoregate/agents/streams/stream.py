"""What every reader of an event stream has: steps, the output, why the agent stopped, and what it used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.text import parse_amount
from scoregate.kernel.types.trajectories.messages import StepReader
from scoregate.kernel.types.trajectory_steps import ToolCall


class AgentStream:
    """Reads the events of one run of an agent. Unknown events are skipped: newer versions of an agent add some.

    Attributes:
        reader: the steps so far.
        output: the final answer; None if the stream doesn't name one.
        stop_reason: why the agent stopped; empty as long as it runs.
        error: the error that ended the run; None without one.
        model: the model that answers; None if unknown.
        ended: whether the stream reported the end of the run.
    """

    def __init__(self) -> None:
        self.reader = StepReader()
        self.output: str | None = None
        self.stop_reason = ""
        self.error: str | None = None
        self.model: str | None = None
        self.ended = False
        self._tokens = [0, 0, 0]
        self._cost: float | None = None
        self._calls = self._counted = 0

    def feed(self, event: Mapping[str, Any]) -> None:
        """Read one event."""
        raise NotImplementedError

    @property
    def tool_call_count(self) -> int:
        """The number of tool calls so far."""
        steps = self.reader.steps
        self._calls += sum(isinstance(steps[index], ToolCall) for index in range(self._counted, len(steps)))
        self._counted = len(steps)
        return self._calls

    @property
    def usage(self) -> Usage | None:
        """The tokens and the cost that the agent reports; None if it doesn't."""
        given, produced, cached = self._tokens
        if not (given or produced) and self._cost is None:
            return None
        return Usage(given, produced, cached, self._cost, self.model)

    def add_usage(self, given: Any, produced: Any, cached: Any = None, cost: Any = None) -> None:
        """Count tokens and costs; values that are no numbers count as unknown.

        Args:
            given: the input tokens, with those read from a cache.
            produced: the output tokens.
            cached: the part of the input tokens that was read from a cache.
            cost: US dollars.
        """
        for position, value in enumerate((given, produced, cached)):
            self._tokens[position] += int(parse_amount(value) or 0)
        if (dollars := parse_amount(cost)) is not None:
            self._cost = (self._cost or 0.0) + dollars


def find_mapping(value: Any, *path: str) -> Mapping[str, Any]:
    """The mapping at a path of keys; empty if there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}
