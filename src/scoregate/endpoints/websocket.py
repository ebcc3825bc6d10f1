"""Endpoints over a WebSocket: one connection for each conversation, opened with its first message."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import anyio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException

from scoregate.endpoints.context import EndpointContext
from scoregate.endpoints.fillers import RequestValues
from scoregate.endpoints.http import LARGEST_RESPONSE, status_error
from scoregate.endpoints.response import EndpointResponse, NotJsonError, to_reply
from scoregate.endpoints.rest import USER_AGENT, HttpEndpoint, LoopResources
from scoregate.endpoints.retry import RETRYABLE_STATUSES, TransientError
from scoregate.endpoints.target import SendMessage
from scoregate.errors import EndpointError
from scoregate.kernel.types.backoff import retry_after_s
from scoregate.kernel.types.conversation import Reply
from scoregate.store.endpoints import StoredEndpoint

_CLOSE_S = 1.0
_LOG = logging.getLogger("scoregate.endpoints.websocket")
_LOG.setLevel(logging.INFO)  # at lower levels the library logs headers, and with them tokens and keys


class _Connect(connect):
    """Does not follow redirects: the credentials are for this server only."""

    def process_redirect(self, exc: Exception) -> Exception:
        """Refuse a redirect."""
        return exc


class WebSocketTransport:
    """Transport over a WebSocket.

    Raises:
        EndpointError: the definition is not valid here.
    """

    def __init__(self, definition: StoredEndpoint, endpoint: EndpointContext) -> None:
        self.endpoint = endpoint
        self._service = HttpEndpoint(definition, endpoint)
        self.system_prompt = self._service.out.system_prompt

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[SendMessage]:
        """Connect for one conversation."""
        connection = _Connection()
        async with self._service.opening.use() as shared:
            try:
                yield partial(self._ask, shared, connection)
            finally:
                await connection.close()

    async def _ask(self, shared: LoopResources, connection: _Connection, context: RequestValues) -> tuple[Reply, Any]:
        if connection.socket is None:
            await self._service.retry.run(partial(self._connect, shared, connection, context))
        timeout_s = self._service.timeout_s
        async with shared.slots.turn():
            with anyio.move_on_after(timeout_s):
                return await self._exchange(shared, connection, context)
        last = f"; the last message was {self.endpoint.sanitize(connection.last)}" if connection.last else ""
        problem = f"no output within {timeout_s:g} s{last}"
        raise self.endpoint.fail(problem, kind="timeout", advice="See `response_mapping`, and timeout_seconds.")

    async def _exchange(
        self, shared: LoopResources, connection: _Connection, context: RequestValues
    ) -> tuple[Reply, Any]:
        token = shared.tokens.current if shared.tokens else self._service.access.token
        text = self._service.out.content({**context, "auth_token": token})
        try:
            await connection.send(text)
            while True:
                answer = EndpointResponse(await connection.receive())
                if self._has_output(answer):
                    return to_reply(answer, self._service.fields, self.endpoint)
        except (WebSocketException, OSError) as error:
            raise self._connection_error(error) from None

    def _has_output(self, answer: EndpointResponse) -> bool:
        """Whether this is the reply or an error. Other messages, such as "typing …", come before it."""
        try:
            if self._service.fields["output"](answer) is not None:
                return True
            value = answer.value
        except NotJsonError:
            return True
        return isinstance(value, dict) and bool(value.get("error"))

    async def _connect(self, shared: LoopResources, connection: _Connection, context: RequestValues) -> None:
        async with shared.slots.turn():
            await self._service.with_token(shared, partial(self._open_socket, connection, context))

    async def _open_socket(self, connection: _Connection, context: RequestValues, token: str) -> None:
        context = {**context, "auth_token": token}
        try:
            with anyio.fail_after(self._service.timeout_s):
                connection.socket = await _Connect(
                    str(self._service.url(context)),
                    additional_headers=self._service.headers(context, token, {}),
                    user_agent_header=USER_AGENT,
                    logger=_LOG,
                    open_timeout=None,  # `fail_after` limits it
                    max_size=LARGEST_RESPONSE,
                    close_timeout=_CLOSE_S,
                )
        except InvalidStatus as error:
            raise self._status_error(error) from None
        except (WebSocketException, OSError) as error:  # TimeoutError is an OSError
            raise TransientError(self._connection_error(error)) from None

    def _status_error(self, error: InvalidStatus) -> Exception:
        status, headers = error.response.status_code, error.response.headers
        failure = status_error(status, bytes(error.response.body or b""), self.endpoint)
        after_s = retry_after_s({name.lower(): value for name, value in headers.raw_items()}, time.time())
        return TransientError(failure, after_s=after_s) if status in RETRYABLE_STATUSES else failure

    def _connection_error(self, error: Exception) -> EndpointError:
        message = f"the connection failed: {type(error).__name__}: {error!s:.300}"
        return self.endpoint.fail(message, kind="network_error", advice="Is the address right, and is the endpoint up?")


class _Connection:
    """The connection of one conversation, if it is open, and its last message."""

    def __init__(self) -> None:
        self.socket: ClientConnection | None = None
        self.last: str | bytes = ""

    async def send(self, text: str) -> None:
        """Send a message. Earlier messages from the server are not a reply to it, and are dropped."""
        assert self.socket is not None
        with anyio.move_on_after(0):  # returns only what has arrived already
            while True:
                await self.receive()
        self.last = ""
        await self.socket.send(text)

    async def receive(self) -> str | bytes:
        """The next message."""
        assert self.socket is not None
        self.last = await self.socket.recv()
        return self.last

    async def close(self) -> None:
        """Close the connection in any state."""
        if self.socket is not None:
            with anyio.CancelScope(shield=True), suppress(Exception):  # shielded: the end may be a cancellation
                await self.socket.close()
