"""An MCP server as the task of a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scoregate.errors import AgentError
from scoregate.kernel.types.json_io import dump, to_plain
from scoregate.kernel.types.text import is_whole_number
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.kernel.types.trajectory_steps import ToolCall
from scoregate.mcp_servers.definition import ServerDefinition, make_definition
from scoregate.mcp_servers.results import call_tool
from scoregate.mcp_servers.session import McpSession, open_session
from scoregate.mcp_servers.tool_list import ToolList
from scoregate.mcp_servers.tool_loop import ToolLoop

if TYPE_CHECKING:
    from scoregate.models.model import Model

_TOOL, _ARGUMENTS = "tool", "arguments"


@dataclass(frozen=True)
class McpServer:
    """A task that calls the tools of an MCP server. `mcp_server` makes it.

    Attributes:
        definition: how the server is reached.
        tool: the tool that is called; empty if the case names it, or if a model chooses.
        model: the model that answers with the tools; None to call them directly.
        max_steps: the most tool calls of the model.
        system_prompt: the first message to the model; empty for none.
        tool_errors: whether the error of a tool that is called directly is its output.
        tool_list: the tools of the first session.
    """

    definition: ServerDefinition
    tool: str = ""
    model: str | Model | None = None
    max_steps: int = 20
    system_prompt: str = ""
    tool_errors: bool = False
    tool_list: ToolList = field(default_factory=lambda: ToolList(""), repr=False, compare=False)

    @property
    def __name__(self) -> str:
        return self.definition.name

    async def __call__(self, input: Any, tool: str = "") -> Trajectory:  # noqa: A002
        """Call a tool, or ask the model, in a session of its own.

        Args:
            input: the arguments of the tool; or `{"tool": …, "arguments": {…}}`; or the question to the model.
            tool: the tool, if the case has a field with this name.

        Returns:
            The tool calls, and the result or the answer as the output.

        Raises:
            AgentError: there is no answer that can be judged. Its `trajectory` has the steps until then.
            ModelError: the model failed.
        """
        run: _DirectCall | _Question
        if self.model is None:
            name, arguments = self._read_call(input, tool)
            run = _DirectCall(self, name, arguments)
        else:
            run = _Question(self, input if isinstance(input, str) else dump(to_plain(input)).decode())
        try:
            async with open_session(self.definition) as session:
                tools = await session.list_tools()
                self.tool_list.check(tools)
                output = await run.run(session, tools)
                # Again, since a server may change its list in a session.
                self.tool_list.check(await session.list_tools())
        except AgentError as error:
            error.trajectory = Trajectory(run.steps, stop_reason=run.stop_reason)
            raise
        return Trajectory(run.steps, output, stop_reason=run.stop_reason)

    def _read_call(self, value: Any, tool: str) -> tuple[str, Mapping[str, Any]]:
        name = tool or self.tool
        if not name and isinstance(value, Mapping) and {_TOOL} <= value.keys() <= {_TOOL, _ARGUMENTS}:
            name, value = value[_TOOL], value.get(_ARGUMENTS, {})
        if not isinstance(name, str) or not name:
            raise AgentError(
                f"the case names no tool of {self.definition.name}",
                advice='Give it the field "tool", or the input {"tool": …, "arguments": {…}}; or set tool=.',
            )
        if not isinstance(value, Mapping):
            raise AgentError(f"the arguments of the tool {name:.100} must be an object, not {value!r:.200}")
        return name, value


class _DirectCall:
    """A call of one tool."""

    def __init__(self, server: McpServer, name: str, arguments: Mapping[str, Any]) -> None:
        self._server, self._name, self._arguments = server, name, arguments
        self.steps: list[Any] = []
        self.stop_reason = ""

    async def run(self, session: McpSession, tools: Sequence[Mapping[str, Any]]) -> Any:
        """The output of the tool."""
        names = [str(tool["name"]) for tool in tools]
        if self._name not in names:
            raise AgentError(
                f"the MCP server {self._server.definition.name} has no tool {self._name!r:.100}",
                advice=f"It has {', '.join(names)[:500]}.",
            )
        step: ToolCall = await call_tool(session, self._name, self._arguments)
        self.steps.append(step)
        if step.error is not None and not self._server.tool_errors:
            raise AgentError(
                f"the tool {self._name} failed: {step.error}", advice="tool_errors=True makes errors outputs."
            )
        return step.result if step.error is None else step.error


class _Question:
    """A question to a model."""

    def __init__(self, server: McpServer, question: str) -> None:
        self._server, self._question = server, question
        self._loop: ToolLoop | None = None

    async def run(self, session: McpSession, tools: Sequence[Mapping[str, Any]]) -> Any:
        """The answer of the model."""
        from scoregate.models.openai_model import get_model

        self._loop = ToolLoop(get_model(self._server.model), session, tools, self._server.max_steps)
        prompt = self._server.system_prompt
        system = [{"role": "system", "content": prompt}] if prompt else []
        return await self._loop.run([*system, {"role": "user", "content": self._question}])

    @property
    def steps(self) -> list[Any]:
        """The messages and tool calls so far."""
        return [] if self._loop is None else self._loop.steps

    @property
    def stop_reason(self) -> str:
        """Why the model stopped."""
        return "" if self._loop is None else self._loop.stop_reason


def mcp_server(
    server: str | Sequence[str],
    *,
    tool: str = "",
    model: str | Model | None = None,
    name: str = "",
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    timeout: float = 30.0,
    max_steps: int = 20,
    system_prompt: str = "",
    tool_errors: bool = False,
) -> McpServer:
    """A task for `evaluate` that calls the tools of an MCP server, or lets a model answer with them.

    Each trial has a session of its own. A server with a command is started for it, and killed at its end with
    everything that it started. Its tools are recorded: a comparison reports which of them changed.

    Args:
        server: the address of a server with streamable HTTP, or the program and its arguments.
        tool: the tool that each case calls. Without it, a case has the field `tool`, or the input
            `{"tool": …, "arguments": {…}}`.
        model: the model that answers the input with the tools, such as "openai/gpt-5-mini"; None to call tools
            directly.
        name: the name of the server and of the task; default: its address, or a word of the command.
        env: variables of the command. From this process it only gets those that programs need, such as PATH and HOME.
        headers: headers of each request to an address.
        folder: where the command runs; default: the working directory.
        timeout: seconds that the server may take to start, and for each request.
        max_steps: the most tool calls of the model. One more is an error of the case.
        system_prompt: the first message to the model.
        tool_errors: whether the text of a tool's error is its output, if it is called directly. Without it, such an
            error is one of the case. A model always gets it.

    Raises:
        ValueError: the server has a wrong form, or a limit is not positive.
    """
    definition = make_definition(server, name=name, env=env, headers=headers, folder=folder, timeout=timeout)
    if not is_whole_number(max_steps, 1):
        raise ValueError(f"max_steps must be a whole number of at least 1, not {max_steps!r:.60}")
    if tool and model is not None:
        raise ValueError("tool is for direct calls; a model chooses its tools itself")
    return McpServer(
        definition, tool, model, max_steps, system_prompt, tool_errors, tool_list=ToolList(definition.name)
    )
