"""Targets and replies from stored definitions of endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoregate.endpoints.context import EndpointContext
from scoregate.endpoints.http import display_address
from scoregate.endpoints.target import EndpointTarget
from scoregate.engine.sync import run_sync
from scoregate.errors import MissingExtra
from scoregate.kernel.types.cleanup import close_at_end
from scoregate.kernel.types.conversation import Reply
from scoregate.store.endpoints import StoredEndpoint


def open_target(definition: StoredEndpoint, *, environment: Mapping[str, str] | None = None) -> EndpointTarget:
    """Open an endpoint. Connections are opened at the first message.

    Args:
        definition: the stored definition.
        environment: the values of its variables; default: the environment of this process.

    Raises:
        EndpointError: the definition is not valid here, or a variable is not set.
        MissingExtra: a required package is not installed.
    """
    endpoint = EndpointContext(definition.title, display_address(definition), environment=environment)
    try:
        # Each transport needs other packages.
        if definition.connection_type == "WebSocket":
            from scoregate.endpoints.websocket import WebSocketTransport

            return EndpointTarget(definition.title, WebSocketTransport(definition, endpoint))
        if definition.connection_type == "SDK":
            from scoregate.endpoints.function import FunctionTransport

            return EndpointTarget(definition.title, FunctionTransport(definition, endpoint))
        if definition.connection_type == "MCP":
            from scoregate.endpoints.mcp import McpTransport

            return EndpointTarget(definition.title, McpTransport(definition, endpoint))
        from scoregate.endpoints.rest import HttpTransport

        return EndpointTarget(definition.title, HttpTransport(definition, endpoint))
    except ImportError as error:
        if error.name and error.name.partition(".")[0] in ("httpx", "jinja2", "websockets"):
            message = f"endpoints take the package {error.name}, which is not installed"
            raise MissingExtra(message, advice="Run: pip install 'scoregate[endpoints]'") from None
        raise


def invoke(definition: StoredEndpoint, input: str, conversation_id: str | None = None) -> dict[str, Any]:  # noqa: A002
    """Send a message and wait for the reply. It blocks a running event loop.

    Args:
        definition: the stored definition.
        input: the message.
        conversation_id: the id of an existing conversation.

    Returns:
        `output`, `conversation_id`, `context`, `metadata`, `tool_calls`.

    Raises:
        EndpointError: there is no usable reply.
        MissingExtra: a required package is not installed.
    """
    target = open_target(definition)

    async def send() -> Reply:
        async with close_at_end(), target.session(conversation_id) as session:
            return await session.send(input)

    reply = run_sync(send)
    return {
        "output": reply.output,
        "conversation_id": reply.conversation_id,
        "context": list(reply.context),
        "metadata": dict(reply.metadata),
        "tool_calls": [dict(call) for call in reply.tool_calls],
    }
