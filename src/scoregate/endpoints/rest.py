"""Endpoints over HTTP: a client for all messages of a run, and one request for each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx

from scoregate.core.target import Reply
from scoregate.endpoints.access import access_of, bearer
from scoregate.endpoints.addresses import address_of
from scoregate.endpoints.answers import Answer
from scoregate.endpoints.fields import fields_of
from scoregate.endpoints.names import Context
from scoregate.endpoints.opening import Opening
from scoregate.endpoints.outgoing import outgoing_of
from scoregate.endpoints.replies import reply_of
from scoregate.endpoints.sharing import Shared
from scoregate.endpoints.surroundings import Surroundings
from scoregate.endpoints.transport import sent
from scoregate.endpoints.trying import Patience
from scoregate.endpoints.turns import Pace
from scoregate.endpoints.wires import Ask
from scoregate.errors import EndpointError
from scoregate.store.endpoints import StoredEndpoint
from scoregate.version import __version__

_IN_ADDRESS = frozenset({"GET", "DELETE"})
_OWN = {"accept": "*/*", "accept-encoding": "gzip, deflate", "user-agent": f"scoregate/{__version__}"}


class Rest:
    """As `wires.Wire` has it.

    Raises:
        EndpointError: the endpoint cannot be called as it is defined.
    """

    def __init__(self, definition: StoredEndpoint, place: Surroundings) -> None:
        self._definition, self.place = definition, place
        self._out = outgoing_of(definition, place)
        self.system_prompt = self._out.system_prompt
        self._fields = fields_of(definition.response_mapping, place)
        self._access = access_of(definition, self._out)
        self._url = httpx.URL(address_of(definition, place))
        self._pace = Pace(definition.requests_per_minute)
        self._patience = Patience(definition.retries, self._pace)
        self._opening = Opening(partial(Shared, definition, place, self._pace))
        self._is_in_address = definition.method in _IN_ADDRESS and not self._out.is_raw

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Ask]:
        """As `Wire.connected`."""
        async with self._opening.held() as shared:
            yield partial(self._ask, shared)

    async def _ask(self, shared: Shared, context: Context) -> tuple[Reply, Any]:
        text = await self._patience.through(partial(self._attempt, shared, context))
        return reply_of(Answer(text), self._fields, self.place)

    async def _attempt(self, shared: Shared, context: Context) -> bytes:
        async with shared.slots.turn():
            if shared.tokens is None:
                return await self._sent(shared, context, self._access.token)
            token = await shared.tokens.get()
            try:
                return await self._sent(shared, context, token)
            except EndpointError as error:
                if error.status != 401:
                    raise
            shared.tokens.spoil(token)
            return await self._sent(shared, context, await shared.tokens.get())

    async def _sent(self, shared: Shared, context: Context, token: str) -> bytes:
        request = self._request({**context, "auth_token": token}, token)
        with shared.clients.one() as client:
            return await sent(client, request, self.place, timeout_s=self._definition.timeout_seconds)

    def _request(self, context: Context, token: str) -> httpx.Request:
        headers = {**_OWN, **self._access.headers, **(bearer(token) if self._access.adds_bearer else {})}
        query = [*self._out.pairs(self._out.query, context), *self._access.query.items()]
        content = None
        if self._is_in_address:
            query += self._out.pairs(self._out.body, context)
        else:
            headers["content-type"] = "application/json"
            content = self._out.content(context).encode("utf-8", "replace")
        lines = _lines(headers, self._out.pairs(self._out.headers, context))
        return httpx.Request(self._definition.method, self._to(query), headers=lines, content=content)

    def _to(self, query: list[tuple[str, str]]) -> httpx.URL:
        return self._url.copy_with(params=[*self._url.params.multi_items(), *query]) if query else self._url


def _lines(own: dict[str, str], given: list[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """Headers as they are sent; what the endpoint says itself takes the place of ours."""
    names = {name.lower() for name, _ in given}
    kept = [(name, value) for name, value in own.items() if name.lower() not in names]
    return [(name.encode(), value.encode()) for name, value in (*kept, *given)]
