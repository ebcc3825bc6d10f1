"""Endpoints over HTTP: one request for each message."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import httpx

from scoregate.endpoints.auth import AccessTokens, bearer_header, resolve_access
from scoregate.endpoints.context import EndpointContext
from scoregate.endpoints.fillers import RequestValues
from scoregate.endpoints.http import ClientPool, resolve_address, send_request, without_parameters
from scoregate.endpoints.request import compile_request
from scoregate.endpoints.response import EndpointResponse, compile_fields, to_reply
from scoregate.endpoints.retry import ConcurrencyLimit, RequestPacer, RetryPolicy
from scoregate.endpoints.target import PerLoop, SendMessage
from scoregate.errors import EndpointError
from scoregate.kernel.types.conversation import Reply
from scoregate.store.endpoints import ClientCredentials, StoredEndpoint
from scoregate.version import __version__

T = TypeVar("T")
USER_AGENT = f"scoregate/{__version__}"


class LoopResources:
    """Shared by all conversations with an endpoint in one event loop. `tokens` is None without client credentials."""

    def __init__(self, definition: StoredEndpoint, endpoint: EndpointContext, pace: RequestPacer) -> None:
        self.slots = ConcurrencyLimit(definition.max_concurrency, pace)
        self.clients = ClientPool()
        self.tokens: AccessTokens | None = None
        if isinstance(definition.auth, ClientCredentials):
            context = endpoint.at(f"POST {without_parameters(definition.auth.token_url)}")
            self.tokens = AccessTokens(self.clients, definition.auth, context, timeout_s=definition.timeout_seconds)

    async def aclose(self) -> None:
        """Close the clients."""
        await self.clients.aclose()


class HttpEndpoint:
    """The compiled definition of an endpoint with a URL.

    Raises:
        EndpointError: the definition is not valid here.
    """

    def __init__(self, definition: StoredEndpoint, endpoint: EndpointContext) -> None:
        self.endpoint, self.timeout_s = endpoint, definition.timeout_seconds
        self.out = compile_request(definition, endpoint)
        self.fields = compile_fields(definition.response_mapping, endpoint)
        self.access = resolve_access(definition, self.out)
        pace = RequestPacer(definition.requests_per_minute)
        self.retry = RetryPolicy(definition.retries, pace)
        self.opening = PerLoop(partial(LoopResources, definition, endpoint, pace))
        self._url = httpx.URL(resolve_address(definition, endpoint))

    async def with_token(self, shared: LoopResources, send: Callable[[str], Awaitable[T]]) -> T:
        """The result of `send` with a token. A refused token is fetched again once.

        Raises:
            EndpointError: `send` failed, or there is no token.
        """
        if shared.tokens is None:
            return await send(self.access.token)
        token = await shared.tokens.get()
        try:
            return await send(token)
        except EndpointError as error:
            if error.status != 401:
                raise
        shared.tokens.invalidate(token)
        return await send(await shared.tokens.get())

    def url(self, context: RequestValues, more: Iterable[tuple[str, str]] = ()) -> httpx.URL:
        """The URL with all query parameters: its own, those of the definition, the API key, and `more`.

        Raises:
            EndpointError: a template cannot be rendered.
        """
        query = [*self.out.pairs(self.out.query, context), *self.access.query.items(), *more]
        return self._url.copy_with(params=[*self._url.params.multi_items(), *query]) if query else self._url

    def headers(self, context: RequestValues, token: str, usual: dict[str, str]) -> list[tuple[str, str]]:
        """The default headers and those with credentials. Headers of the definition replace them.

        Raises:
            EndpointError: a header has several lines, or a template cannot be rendered.
        """
        own = {**usual, **self.access.headers, **(bearer_header(token) if self.access.adds_bearer else {})}
        given = self.out.pairs(self.out.headers, context)
        names = {name.lower() for name, _ in given}
        return [*((name, value) for name, value in own.items() if name.lower() not in names), *given]


_METHODS_WITHOUT_BODY = frozenset({"GET", "DELETE"})
# Compressed only in ways that httpx can undo without other packages.
_DEFAULT_HEADERS = {"accept": "*/*", "accept-encoding": "gzip, deflate", "user-agent": USER_AGENT}


class HttpTransport:
    """Transport over HTTP.

    Raises:
        EndpointError: the definition is not valid here.
    """

    def __init__(self, definition: StoredEndpoint, endpoint: EndpointContext) -> None:
        self.endpoint = endpoint
        self._service = service = HttpEndpoint(definition, endpoint)
        self.system_prompt = service.out.system_prompt
        self._method = definition.method
        self._is_in_address = definition.method in _METHODS_WITHOUT_BODY and not service.out.is_raw

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[SendMessage]:
        """Connect for one conversation."""
        async with self._service.opening.use() as shared:
            yield partial(self._ask, shared)

    async def _ask(self, shared: LoopResources, context: RequestValues) -> tuple[Reply, Any]:
        text = await self._service.retry.run(partial(self._attempt, shared, context))
        return to_reply(EndpointResponse(text), self._service.fields, self.endpoint)

    async def _attempt(self, shared: LoopResources, context: RequestValues) -> bytes:
        async with shared.slots.turn():
            return await self._service.with_token(shared, partial(self._send, shared, context))

    async def _send(self, shared: LoopResources, context: RequestValues, token: str) -> bytes:
        request = self._request({**context, "auth_token": token}, token)
        with shared.clients.one() as client:
            return await send_request(client, request, self.endpoint, timeout_s=self._service.timeout_s)

    def _request(self, context: RequestValues, token: str) -> httpx.Request:
        service, out = self._service, self._service.out
        if self._is_in_address:
            url, usual, content = service.url(context, out.pairs(out.body, context)), _DEFAULT_HEADERS, None
        else:
            url, usual = service.url(context), {**_DEFAULT_HEADERS, "content-type": "application/json"}
            content = out.content(context).encode("utf-8", "replace")
        # httpx encodes texts as ASCII, which fails for others.
        headers = [(name.encode(), value.encode()) for name, value in service.headers(context, token, usual)]
        return httpx.Request(self._method, url, headers=headers, content=content)
