"""Endpoints over a WebSocket: one connection a conversation, opened with its first message."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import anyio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException

from scoregate.core.target import Reply
from scoregate.endpoints.answers import Answer, NotJson
from scoregate.endpoints.names import Context
from scoregate.endpoints.replies import reply_of
from scoregate.endpoints.retries import PASSING, Passing, retry_after_s
from scoregate.endpoints.service import AGENT, Service, Shared
from scoregate.endpoints.surroundings import Surroundings
from scoregate.endpoints.target import Ask
from scoregate.endpoints.transport import LARGEST, refused
from scoregate.errors import EndpointError
from scoregate.store.endpoints import StoredEndpoint

_CLOSE_S = 1.0
_LOG = logging.getLogger("scoregate.endpoints.websocket")
_LOG.setLevel(logging.INFO)  # below that the library tells every header, and with them tokens and keys


class _Connect(connect):
    """Goes nowhere else than where it was sent: credentials are for that place."""

    def process_redirect(self, exc: Exception) -> Exception:
        """No redirect is followed."""
        return exc


class WebSocket:
    """As `target.Wire` has it.

    Raises:
        EndpointError: the endpoint cannot be called as it is defined.
    """

    def __init__(self, definition: StoredEndpoint, place: Surroundings) -> None:
        self.place = place
        self._service = Service(definition, place)
        self.system_prompt = self._service.out.system_prompt

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Ask]:
        """As `Wire.connected`."""
        line = _Line()
        async with self._service.opening.held() as shared:
            try:
                yield partial(self._ask, shared, line)
            finally:
                await line.hang_up()

    async def _ask(self, shared: Shared, line: _Line, context: Context) -> tuple[Reply, Any]:
        if line.connection is None:
            await self._service.patience.through(partial(self._connect, shared, line, context))
        timeout_s = self._service.timeout_s
        async with shared.slots.turn():
            with anyio.move_on_after(timeout_s):
                return await self._exchange(shared, line, context)
        last = f"; the last message was {self.place.shown(line.last)}" if line.last else ""
        what = f"no output within {timeout_s:g} s{last}"
        raise self.place.fail(what, kind="timeout", advice="See `response_mapping`, and timeout_seconds.")

    async def _exchange(self, shared: Shared, line: _Line, context: Context) -> tuple[Reply, Any]:
        token = shared.tokens.current if shared.tokens else self._service.access.token
        text = self._service.out.content({**context, "auth_token": token})
        try:
            await line.say(text)
            while True:
                answer = Answer(await line.hear())
                if self._has_output(answer):
                    return reply_of(answer, self._service.fields, self.place)
        except (WebSocketException, OSError) as error:
            raise self._broken(error) from None

    def _has_output(self, answer: Answer) -> bool:
        """Whether this is the reply, or an error; what is only on the way to it, such as "typing …", is neither."""
        try:
            if self._service.fields["output"](answer) is not None:
                return True
            value = answer.value
        except NotJson:
            return True
        return isinstance(value, dict) and bool(value.get("error"))

    async def _connect(self, shared: Shared, line: _Line, context: Context) -> None:
        async with shared.slots.turn():
            await self._service.with_token(shared, partial(self._connected, line, context))

    async def _connected(self, line: _Line, context: Context, token: str) -> None:
        context = {**context, "auth_token": token}
        try:
            with anyio.fail_after(self._service.timeout_s):
                line.connection = await _Connect(
                    str(self._service.url(context)),
                    additional_headers=self._service.headers(context, token, {}),
                    user_agent_header=AGENT,
                    logger=_LOG,
                    open_timeout=None,
                    max_size=LARGEST,
                    close_timeout=_CLOSE_S,
                )
        except InvalidStatus as error:
            raise self._refused(error) from None
        except (WebSocketException, OSError) as error:
            raise Passing(self._broken(error)) from None

    def _refused(self, error: InvalidStatus) -> Exception:
        status, headers = error.response.status_code, error.response.headers
        failure = refused(status, bytes(error.response.body or b""), self.place)
        after_s = retry_after_s({name.lower(): value for name, value in headers.raw_items()})
        return Passing(failure, after_s=after_s) if status in PASSING else failure

    def _broken(self, error: Exception) -> EndpointError:
        said = f"the connection failed: {type(error).__name__}: {error!s:.300}"
        return self.place.fail(said, kind="network_error", advice="Is the address right, and is the endpoint up?")


class _Line:
    """The connection of one conversation, once there is one, and what was last heard on it."""

    def __init__(self) -> None:
        self.connection: ClientConnection | None = None
        self.last: str | bytes = ""

    async def say(self, text: str) -> None:
        """Send it; what came unasked before is no reply to it."""
        assert self.connection is not None
        with anyio.move_on_after(0):
            while True:
                await self.hear()
        self.last = ""
        await self.connection.send(text)

    async def hear(self) -> str | bytes:
        """The next message."""
        assert self.connection is not None
        self.last = await self.connection.recv()
        return self.last

    async def hang_up(self) -> None:
        """End the connection, whatever state it is in."""
        if self.connection is not None:
            with anyio.CancelScope(shield=True), suppress(Exception):
                await self.connection.close()
