"""Endpoints over HTTP: a client for all messages of a run, and one request for each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx

from scoregate.core.target import Reply
from scoregate.endpoints.answers import Answer
from scoregate.endpoints.names import Context
from scoregate.endpoints.replies import reply_of
from scoregate.endpoints.service import AGENT, Service, Shared
from scoregate.endpoints.surroundings import Surroundings
from scoregate.endpoints.target import Ask
from scoregate.endpoints.transport import sent
from scoregate.store.endpoints import StoredEndpoint

_IN_ADDRESS = frozenset({"GET", "DELETE"})
_USUAL = {"accept": "*/*", "accept-encoding": "gzip, deflate", "user-agent": AGENT}


class Rest:
    """As `target.Wire` has it.

    Raises:
        EndpointError: the endpoint cannot be called as it is defined.
    """

    def __init__(self, definition: StoredEndpoint, place: Surroundings) -> None:
        self.place = place
        self._service = service = Service(definition, place)
        self.system_prompt = service.out.system_prompt
        self._method = definition.method
        self._is_in_address = definition.method in _IN_ADDRESS and not service.out.is_raw

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Ask]:
        """As `Wire.connected`."""
        async with self._service.opening.held() as shared:
            yield partial(self._ask, shared)

    async def _ask(self, shared: Shared, context: Context) -> tuple[Reply, Any]:
        text = await self._service.patience.through(partial(self._attempt, shared, context))
        return reply_of(Answer(text), self._service.fields, self.place)

    async def _attempt(self, shared: Shared, context: Context) -> bytes:
        async with shared.slots.turn():
            return await self._service.with_token(shared, partial(self._sent, shared, context))

    async def _sent(self, shared: Shared, context: Context, token: str) -> bytes:
        request = self._request({**context, "auth_token": token}, token)
        with shared.clients.one() as client:
            return await sent(client, request, self.place, timeout_s=self._service.timeout_s)

    def _request(self, context: Context, token: str) -> httpx.Request:
        service, out = self._service, self._service.out
        if self._is_in_address:
            url, usual, content = service.url(context, out.pairs(out.body, context)), _USUAL, None
        else:
            url, usual = service.url(context), {**_USUAL, "content-type": "application/json"}
            content = out.content(context).encode("utf-8", "replace")
        headers = [(name.encode(), value.encode()) for name, value in service.headers(context, token, usual)]
        return httpx.Request(self._method, url, headers=headers, content=content)
