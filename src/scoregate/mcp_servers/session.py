"""A session with an MCP server, with versions 1 and 2 of the package mcp."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from math import inf, isfinite
from typing import Any

import anyio
from anyio.abc import TaskGroup

from scoregate.agents.process import first_error
from scoregate.errors import McpServerError, MissingExtra
from scoregate.kernel.types.event_values import MOST_TOOLS
from scoregate.mcp_servers.definition import ServerDefinition
from scoregate.mcp_servers.http_client import make_http_client
from scoregate.mcp_servers.process import MessageStreams, start_server

MOST_PAGES = 100
_CLOSE_S = 2.0
_STRUCTURED = {"structured_content", "structuredContent"}  # of versions 2 and 1
_CONNECTION_CLOSED, _REQUEST_TIMEOUT = -32000, 408


class _ErrorResponse(McpServerError):
    """The server answered a request with an error."""


def _is_response(error: Exception) -> bool:
    """Whether an exception of the package mcp is an error that the server sent, and not the loss of the connection."""
    code = getattr(getattr(error, "error", None), "code", None)
    return isinstance(code, int) and code not in (_CONNECTION_CLOSED, _REQUEST_TIMEOUT)


def _is_finite(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or isfinite(value)


class McpSession:
    """A session with a server.

    Args:
        client: the client of the package mcp.
        server: the server.
    """

    def __init__(self, client: Any, server: ServerDefinition) -> None:
        self._client, self._server = client, server

    async def list_tools(self) -> list[dict[str, Any]]:
        """The tools of the server, as it sends them.

        Raises:
            McpServerError: it doesn't answer, or has too many.
        """
        tools: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await self._request("tools/list", self._client.list_tools, cursor=cursor)
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if not cursor or len(tools) > MOST_TOOLS:
                break
        if cursor or len(tools) > MOST_TOOLS:
            raise McpServerError(
                f"the MCP server {self._server.name} lists more than {MOST_TOOLS:,} tools, or {MOST_PAGES} pages"
            )
        return tools

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a tool as the server sends it: `content`, `structuredContent`, `isError`.

        An error response, such as that for unknown tools or wrong arguments, is a result with `isError`, too.

        Raises:
            McpServerError: it doesn't answer, or breaks its own schema.
        """
        try:
            return await self._request(f"the tool {name:.100}", self._client.call_tool, name, dict(arguments))
        except _ErrorResponse as error:
            return {"content": [{"type": "text", "text": error.message}], "isError": True}

    async def _request(self, what: str, send: Callable[..., Any], *arguments: Any, **options: Any) -> dict[str, Any]:
        title, timeout = self._server.name, self._server.timeout
        try:
            with anyio.fail_after(timeout):
                answer = await send(*arguments, **options)
        except TimeoutError:
            raise McpServerError(
                f"the MCP server {title} didn't answer within {timeout:g} s: {what}",
                advice="timeout allows more seconds.",
                kind="timeout",
            ) from None
        except McpServerError:
            raise
        except Exception as error:  # errors of the protocol, of the transport, and of the server's schemas
            kind = _ErrorResponse if _is_response(error) else McpServerError
            raise kind(f"the MCP server {title}: {what}: {error!s:.1000}") from None
        if not _is_finite(answer.model_dump(include=_STRUCTURED)):
            raise McpServerError(
                f"the MCP server {title}: {what}: its structured content has NaN or Infinity",
                advice="JSON has no such numbers. The server must send null or a text instead.",
                kind="json_parsing_error",
            )
        message: dict[str, Any] = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
        return message


@asynccontextmanager
async def open_session(server: ServerDefinition, rights: Mapping[str, Any] | None = None) -> AsyncIterator[McpSession]:
    """Connect to a server for the length of the block. At the end, a server that was started is killed.

    Args:
        server: the server.
        rights: further arguments to start its process with; None for none.

    Raises:
        McpServerError: the server can't be reached, or fails within the block, which is cancelled then.
        MissingExtra: the package mcp is not installed.
    """
    mcp = import_mcp()
    is_open = False
    with anyio.CancelScope(deadline=anyio.current_time() + server.timeout) as limit:
        try:
            async with anyio.create_task_group() as tasks, AsyncExitStack() as stack:
                connect = _connect_version_2 if hasattr(mcp, "Client") else _connect_version_1
                client = await connect(mcp, server, rights, stack, tasks)
                is_open, limit.deadline = True, inf  # the limit is for the start only
                yield McpSession(client, server)
                limit.deadline = anyio.current_time() + _CLOSE_S
        except BaseExceptionGroup as group:
            raise _find_cause(group, server, is_open=is_open) from None
        except (McpServerError, MissingExtra):
            raise
        except Exception as error:
            if is_open:  # the error is of the block, and not of the connection
                raise
            raise _connection_error(server, error) from None
    if limit.cancelled_caught and not is_open:
        raise McpServerError(
            f"the MCP server {server.name} didn't start within {server.timeout:g} s",
            advice="timeout allows more seconds.",
            kind="timeout",
        )


def _find_cause(group: BaseExceptionGroup[BaseException], server: ServerDefinition, *, is_open: bool) -> BaseException:
    """The error of the server, which cancels everything else, or the first error."""
    own_errors = group.subgroup(McpServerError)
    error = first_error(group if own_errors is None else own_errors)
    if isinstance(error, RuntimeError) and not is_open:  # the package mcp refuses the version of the protocol so
        return McpServerError(
            f"the MCP server {server.name} can't be used: {error!s:.1000}",
            advice="Update the server, or the package mcp.",
            kind="configuration_error",
        )
    # Errors of the user's code keep their type; those of the transport are of its package.
    is_foreign = type(error).__module__.partition(".")[0] in ("httpx", "httpx2", "mcp", "anyio")
    return _connection_error(server, error) if is_foreign else error


def _connection_error(server: ServerDefinition, error: BaseException) -> McpServerError:
    return McpServerError(
        f"the MCP server {server.name} can't be reached: {type(error).__name__}: {error!s:.1000}",
        advice="Is its command or address right, and does it speak MCP?",
        kind="network_error",
    )


def import_mcp() -> Any:
    """The package mcp.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        return import_module("mcp")
    except ModuleNotFoundError as error:
        if error.name != "mcp":
            raise
        raise MissingExtra(
            "MCP servers need the package mcp, which is not installed", advice="Run: pip install 'scoregate[mcp]'"
        ) from None


class _OpenStreams:
    """Streams that are open, as a transport of version 2."""

    def __init__(self, streams: MessageStreams) -> None:
        self._streams = streams

    async def __aenter__(self) -> MessageStreams:
        return self._streams

    async def __aexit__(self, *_: object) -> None:
        """The stack closes them."""


async def _connect_version_2(
    mcp: Any, server: ServerDefinition, rights: Mapping[str, Any] | None, stack: AsyncExitStack, tasks: TaskGroup
) -> Any:
    transport: Any
    if server.url:
        http = make_http_client(import_module("httpx2"), server, _raiser(tasks))
        await stack.enter_async_context(http)
        open_transport = import_module("mcp.client.streamable_http").streamable_http_client
        transport = open_transport(server.url, http_client=http, max_sse_event_size=None)  # the client has limits
    else:
        messages = import_module("mcp_types").jsonrpc_message_adapter
        streams = start_server(server, _parser(messages.validate_json), _dump_message, rights)
        transport = _OpenStreams(await stack.enter_async_context(streams))
    return await stack.enter_async_context(mcp.Client(transport, cache=None))


async def _connect_version_1(
    mcp: Any, server: ServerDefinition, rights: Mapping[str, Any] | None, stack: AsyncExitStack, tasks: TaskGroup
) -> Any:
    if server.url:
        module = import_module("mcp.client.streamable_http")

        def make_client(**_: Any) -> Any:
            return make_http_client(import_module("httpx"), server, _raiser(tasks))

        transport = module.streamablehttp_client(server.url, httpx_client_factory=make_client)
        read, write, _ = await stack.enter_async_context(transport)
    else:
        messages = import_module("mcp.types").JSONRPCMessage
        streams = start_server(server, _parser(messages.model_validate_json), _dump_message, rights)
        read, write = await stack.enter_async_context(streams)
    session = await stack.enter_async_context(mcp.ClientSession(read, write))
    await session.initialize()
    return session


def _parser(read: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    message = import_module("mcp.shared.message").SessionMessage
    return lambda line: message(read(line))


def _dump_message(message: Any) -> str:
    text: str = message.message.model_dump_json(by_alias=True, exclude_unset=True)
    return text


def _raiser(tasks: TaskGroup) -> Callable[[McpServerError], None]:
    """A function that raises an error in the group, which cancels the session."""

    async def raise_error(error: McpServerError) -> None:
        raise error

    def start(error: McpServerError) -> None:
        tasks.start_soon(raise_error, error)

    return start
