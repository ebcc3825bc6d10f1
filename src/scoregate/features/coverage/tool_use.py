"""Which tools, arguments and values of arguments the cases of a run use."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, TypeAlias

from scoregate.features.coverage.lists.tools import ToolDefinition
from scoregate.kernel.types.json_io import to_text
from scoregate.kernel.types.records import record
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.kernel.types.trajectory_steps import strip_server

UnusedKind: TypeAlias = Literal["tool", "argument", "value", "prompt"]
_MOST_UNLISTED = 100
_LONGEST_NAME = 200


@record
class UnusedItem:
    """A tool, an argument, a value of one, or a prompt that no case uses.

    Attributes:
        kind: what it is.
        name: the name of the tool, or the path of the prompt.
        argument: the argument; empty for a tool.
        value: the value; empty for a tool or an argument.
        path: where it is defined, relative to the project.
        line: the line, from 1; 0 if `path` is the name of a server.
    """

    kind: UnusedKind
    name: str
    argument: str = ""
    value: str = ""
    path: str = ""
    line: int = 1

    @property
    def detail(self) -> str:
        """What is unused within a tool: `unit = kelvin`; empty for the tool or prompt itself."""
        return f"{self.argument} = {self.value}" if self.kind == "value" else self.argument

    @property
    def place(self) -> str:
        """Where it is defined: `tools.json:12`; a prompt is a whole file."""
        return self.path if self.kind == "prompt" or not self.line else f"{self.path}:{self.line}"


@record
class UseCount:
    """How many of the known things are used."""

    known: int = 0
    used: int = 0


@record
class ToolCoverage:
    """What the cases of a run use of the tools that are listed.

    Attributes:
        tools: the tools.
        arguments: the arguments of used tools.
        values: the values of used arguments.
        unused: what no case uses.
        unlisted: the tools that are called and not listed, with the number of calls.
        trials: the number of trials whose tool calls are recorded.
        unrecorded: the number of other trials.
    """

    tools: UseCount = UseCount()
    arguments: UseCount = UseCount()
    values: UseCount = UseCount()
    unused: tuple[UnusedItem, ...] = ()
    unlisted: Mapping[str, int] = field(default_factory=dict)
    trials: int = 0
    unrecorded: int = 0


class _Uses:
    """The arguments of the calls of each tool, with their values as text."""

    def __init__(self, tools: Iterable[ToolDefinition]) -> None:
        self.calls: dict[str, defaultdict[str, set[str]]] = {tool.name: defaultdict(set) for tool in tools}
        self.counts: Counter[str] = Counter()
        self.unlisted: Counter[str] = Counter()
        # Other values needn't be kept, of which there are as many as calls.
        self._wanted = {(tool.name, each.name): frozenset(each.values) for tool in tools for each in tool.arguments}

    def add(self, called: str, arguments: Mapping[str, Any]) -> None:
        """Count a call."""
        name = called if called in self.calls else strip_server(called)
        if name not in self.calls:
            if called in self.unlisted or len(self.unlisted) < _MOST_UNLISTED:
                self.unlisted[called[:_LONGEST_NAME]] += 1
            return
        self.counts[name] += 1
        for argument, value in arguments.items():
            wanted = self._wanted.get((name, argument))
            if wanted is not None:
                values = value if isinstance(value, list) else [value]
                self.calls[name][argument] |= {text for each in values if (text := to_text(each)) in wanted}


def measure_coverage(tools: Sequence[ToolDefinition], traces: Iterable[Any]) -> ToolCoverage:
    """Find what no case uses. Arguments count for tools that are called, values for arguments that are given.

    Args:
        tools: the listed tools; of two with one name, the first counts.
        traces: the traces of all trials, as they are recorded; None for a trial without one.
    """
    # Of several definitions of a tool, the first one counts.
    known = tuple({tool.name: tool for tool in reversed(tools)}.values())[::-1]
    uses, recorded, unrecorded = _Uses(known), 0, 0
    for trace in traces:
        trajectory = Trajectory.read(trace)
        is_complete = trajectory is not None and not trajectory.incomplete and not trajectory.left_out
        recorded, unrecorded = recorded + is_complete, unrecorded + (not is_complete)
        for call in () if trajectory is None else trajectory.tool_calls:
            uses.add(call.name, call.arguments)
    called = [tool for tool in known if uses.counts[tool.name]]
    given = [(tool, each) for tool in called for each in tool.arguments if each.name in uses.calls[tool.name]]
    return ToolCoverage(
        UseCount(len(known), len(called)),
        UseCount(sum(len(tool.arguments) for tool in called), len(given)),
        UseCount(
            sum(len(each.values) for _, each in given),
            sum(len(uses.calls[tool.name][each.name]) for tool, each in given),
        ),
        tuple(item for tool in known for item in _list_unused(tool, uses)),
        dict(uses.unlisted),
        recorded,
        unrecorded,
    )


def _list_unused(tool: ToolDefinition, uses: _Uses) -> Iterator[UnusedItem]:
    place = {"path": tool.path, "line": tool.line}
    if not uses.counts[tool.name]:
        yield UnusedItem("tool", tool.name, **place)  # type: ignore[arg-type]
        return
    for each in tool.arguments:
        if each.name not in uses.calls[tool.name]:
            yield UnusedItem("argument", tool.name, each.name, **place)  # type: ignore[arg-type]
            continue
        for value in each.values:
            if value not in uses.calls[tool.name][each.name]:
                yield UnusedItem("value", tool.name, each.name, value, **place)  # type: ignore[arg-type]
