"""One message to an endpoint and what came of it, for who asks by hand."""

from __future__ import annotations

from typing import Any

from scoregate.core.endings import closing
from scoregate.core.target import Reply
from scoregate.endpoints.open_target import open_target
from scoregate.engine.sync import run_sync
from scoregate.store.endpoints import StoredEndpoint


def invoke(definition: StoredEndpoint, input: str, conversation_id: str | None = None) -> dict[str, Any]:  # noqa: A002
    """Say this, and wait for the reply; works within a running event loop too, which then waits.

    Args:
        definition: of the endpoint. input: the message. conversation_id: of a conversation that it knows.

    Returns:
        `output`, `conversation_id`, `context`, `metadata`, `tool_calls`.

    Raises:
        EndpointError: nothing came back that can be judged. MissingExtra: a package is not installed.
    """
    target = open_target(definition)

    async def asked() -> Reply:
        async with closing(), target.session(conversation_id) as talk:
            return await talk.send(input)

    reply = run_sync(asked)
    return {
        "output": reply.output,
        "conversation_id": reply.conversation_id,
        "context": list(reply.context),
        "metadata": dict(reply.metadata),
        "tool_calls": [dict(call) for call in reply.tool_calls],
    }
