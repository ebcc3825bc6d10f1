"""One message to an endpoint and what came of it, for who asks by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoregate.core.endings import closing
from scoregate.core.target import Reply
from scoregate.endpoints.open_target import open_target
from scoregate.engine.sync import run_sync
from scoregate.store.endpoints import StoredEndpoint

_QUESTION = "This is a test, answer shortly"


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

    return plain(run_sync(asked))


def test(definition: StoredEndpoint) -> dict[str, Any]:
    """Ask for a short answer, to see that the endpoint gives one; as `invoke`."""
    return invoke(definition, _QUESTION)


def plain(reply: Reply) -> dict[str, Any]:
    """A reply as those know it who call an endpoint by hand."""
    metadata: Mapping[str, Any] = reply.metadata
    return {
        "output": reply.output,
        "conversation_id": reply.conversation_id,
        "context": list(reply.context),
        "metadata": dict(metadata),
        "tool_calls": [dict(call) for call in reply.tool_calls],
    }
