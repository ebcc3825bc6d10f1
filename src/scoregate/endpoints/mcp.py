"""Endpoints that are MCP servers: a message calls a tool, or a model answers it with the tools."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from scoregate.endpoints.context import EndpointContext
from scoregate.endpoints.fillers import RequestValues
from scoregate.endpoints.request import RequestTemplate, compile_request
from scoregate.endpoints.retry import ConcurrencyLimit, RequestPacer
from scoregate.endpoints.target import PerLoop, SendMessage
from scoregate.errors import AgentError, EndpointError, McpServerError
from scoregate.kernel.types.conversation import Reply
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.kernel.types.trajectory_steps import Step, ToolCall
from scoregate.mcp_servers.definition import ServerDefinition
from scoregate.mcp_servers.results import call_tool
from scoregate.mcp_servers.session import McpSession, import_mcp, open_session
from scoregate.mcp_servers.tool_list import ToolList
from scoregate.mcp_servers.tool_loop import ToolLoop
from scoregate.store.endpoints import ApiKey, BearerToken, ClientCredentials, StoredEndpoint

_CALL = {"tool", "arguments"}


class McpTransport:
    """Transport to an MCP server, with a session for each conversation.

    Raises:
        EndpointError: the definition is not valid here.
        MissingExtra: the package mcp is not installed.
    """

    def __init__(self, definition: StoredEndpoint, endpoint: EndpointContext) -> None:
        import_mcp()
        self.endpoint, self._definition = endpoint, definition
        self._out = compile_request(definition, endpoint)
        self.system_prompt = self._out.system_prompt
        if self.system_prompt and not definition.model:
            endpoint.misconfigured("the system prompt would not be sent", "It is for a model: set `model`, too.")
        self._server = make_server(definition, endpoint, self._out)
        self._tools = ToolList(self._server.name)
        pace = RequestPacer(definition.requests_per_minute)
        self._opening = PerLoop(partial(_Slots, definition, pace))

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[SendMessage]:
        """Open a session for one conversation."""
        async with self._opening.use() as slots:
            try:
                async with slots.turn(), open_session(self._server) as session:
                    tools = await session.list_tools()
                    self._tools.check(tools)
                    yield partial(self._ask, session, tools)
            except McpServerError as error:
                raise self._convert_error(error) from None

    async def _ask(
        self, session: McpSession, tools: Sequence[Mapping[str, Any]], context: RequestValues
    ) -> tuple[Reply, Any]:
        try:
            if self._definition.model:
                output, steps = await self._ask_model(session, tools, context["messages"])
            else:
                output, steps = await self._call(session, tools, context)
            self._tools.check(await session.list_tools())  # a server may change its list in the middle of a session
        except AgentError as error:
            raise self._convert_error(error) from None
        calls = [{"name": each.name, "arguments": dict(each.arguments), **_result_of(each)} for each in _calls(steps)]
        return Reply(output, tool_calls=tuple(calls), trace=Trajectory(steps).plain()), None

    def _convert_error(self, error: AgentError) -> EndpointError:
        kind = error.kind if isinstance(error, McpServerError) else "unexpected_error"
        return self.endpoint.fail(error.message, advice=error.advice, kind=kind)

    async def _ask_model(
        self, session: McpSession, tools: Sequence[Mapping[str, Any]], messages: Sequence[Mapping[str, Any]]
    ) -> tuple[Any, Sequence[Step]]:
        from scoregate.models.openai_model import get_model

        loop = ToolLoop(get_model(self._definition.model), session, tools, self._definition.max_steps)
        return await loop.run(messages), loop.steps

    async def _call(
        self, session: McpSession, tools: Sequence[Mapping[str, Any]], context: RequestValues
    ) -> tuple[Any, Sequence[Step]]:
        name, arguments = self._read_call(context)
        names = [str(tool["name"]) for tool in tools]
        if name not in names:
            raise self.endpoint.fail(f"there is no tool {name!r:.100}", advice=f"It has {', '.join(names)[:500]}.")
        step = await call_tool(session, name, arguments)
        if step.error is not None:
            raise self.endpoint.fail(f"the tool {name} failed", body=step.error)
        return step.result, [step]

    def _read_call(self, context: RequestValues) -> tuple[str, Mapping[str, Any]]:
        """The tool and its arguments: those of the request mapping, otherwise the message as JSON."""
        name = self._definition.tool
        if self._definition.request_mapping is not None:
            value = self._out.fill(self._out.body, context)
        else:
            try:
                value = json.loads(context["input"])
            except (ValueError, RecursionError):
                value = None
        if not name and isinstance(value, Mapping) and isinstance(value.get("tool"), str) and value.keys() <= _CALL:
            name, value = value["tool"], value.get("arguments", {})
        if not name or not isinstance(value, Mapping):
            part = "arguments" if name else "tool"
            self.endpoint.misconfigured(
                f"the message names no {part}: {context['input']!r:.100}",
                'Write the arguments as a request_mapping, or messages as {"tool": …, "arguments": {…}}.',
            )
        return name, value


class _Slots(ConcurrencyLimit):
    """The conversations at the same time in one event loop."""

    def __init__(self, definition: StoredEndpoint, pace: RequestPacer) -> None:
        super().__init__(definition.max_concurrency, pace)

    async def aclose(self) -> None:
        """Nothing to close."""


def make_server(definition: StoredEndpoint, endpoint: EndpointContext, out: RequestTemplate) -> ServerDefinition:
    """How the server of an endpoint is reached, with the values of its variables.

    Raises:
        EndpointError: a variable is not set, or the credentials can't be used here.
    """
    if not definition.url:
        command = tuple(endpoint.fill(word) for word in definition.command)
        env = {name: endpoint.fill(value) for name, value in definition.env.items()}
        return ServerDefinition(definition.title, command, env=env, timeout=definition.timeout_seconds)
    from scoregate.endpoints.auth import resolve_access
    from scoregate.endpoints.http import resolve_address

    if isinstance(definition.auth, ClientCredentials) or (
        isinstance(definition.auth, ApiKey) and definition.auth.query
    ):
        endpoint.misconfigured("an MCP server takes a token, or a key in a header", "See `auth_token` and `auth`.")
    assert definition.auth is None or isinstance(definition.auth, BearerToken | ApiKey)
    access = resolve_access(definition, out)
    headers = {**access.headers, **dict(out.pairs(out.headers, {}))}
    address = resolve_address(definition, endpoint)
    return ServerDefinition(definition.title, url=address, headers=headers, timeout=definition.timeout_seconds)


def _calls(steps: Sequence[Step]) -> list[ToolCall]:
    return [step for step in steps if isinstance(step, ToolCall)]


def _result_of(call: ToolCall) -> dict[str, Any]:
    return {"result": call.result} if call.error is None else {"error": call.error}
