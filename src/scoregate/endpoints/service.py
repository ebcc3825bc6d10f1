"""What endpoints over HTTP and over WebSockets have in common: an address, credentials, limits, and trying again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TypeVar

import httpx

from scoregate.endpoints.addresses import address_of, without_parameters
from scoregate.endpoints.auth import access_of, bearer
from scoregate.endpoints.clients import Clients
from scoregate.endpoints.names import Context
from scoregate.endpoints.opening import Opening
from scoregate.endpoints.pace import Pace, Slots
from scoregate.endpoints.request_mapping import outgoing_of
from scoregate.endpoints.response_mapping import fields_of
from scoregate.endpoints.retries import Patience
from scoregate.endpoints.surroundings import Surroundings
from scoregate.endpoints.tokens import Tokens
from scoregate.errors import EndpointError
from scoregate.store.endpoints import ClientCredentials, StoredEndpoint
from scoregate.version import __version__

T = TypeVar("T")
AGENT = f"scoregate/{__version__}"


class Shared:
    """What all conversations with an endpoint share in one event loop. `tokens` are None where none are fetched."""

    def __init__(self, definition: StoredEndpoint, place: Surroundings, pace: Pace) -> None:
        self.slots = Slots(definition.max_concurrency, pace)
        self.clients = Clients()
        self.tokens: Tokens | None = None
        if isinstance(definition.auth, ClientCredentials):
            there = place.at(f"POST {without_parameters(definition.auth.token_url)}")
            self.tokens = Tokens(self.clients, definition.auth, there, timeout_s=definition.timeout_seconds)

    async def aclose(self) -> None:
        """Close the clients."""
        await self.clients.aclose()


class Service:
    """One endpoint that is reached by an address; all of its definition made ready once.

    Raises:
        EndpointError: it cannot be called as it is defined.
    """

    def __init__(self, definition: StoredEndpoint, place: Surroundings) -> None:
        self.place, self.timeout_s = place, definition.timeout_seconds
        self.out = outgoing_of(definition, place)
        self.fields = fields_of(definition.response_mapping, place)
        self.access = access_of(definition, self.out)
        pace = Pace(definition.requests_per_minute)
        self.patience = Patience(definition.retries, pace)
        self.opening = Opening(partial(Shared, definition, place, pace))
        self._url = httpx.URL(address_of(definition, place))

    async def with_token(self, shared: Shared, send: Callable[[str], Awaitable[T]]) -> T:
        """What `send` gives for a token; one that was fetched and is refused is fetched anew, once.

        Raises:
            EndpointError: as of `send`, or there is no token.
        """
        if shared.tokens is None:
            return await send(self.access.token)
        token = await shared.tokens.get()
        try:
            return await send(token)
        except EndpointError as error:
            if error.status != 401:
                raise
        shared.tokens.spoil(token)
        return await send(await shared.tokens.get())

    def url(self, context: Context, more: Iterable[tuple[str, str]] = ()) -> httpx.URL:
        """The address with all parameters: its own, those of the definition, the key where it stands there, and more.

        Raises:
            EndpointError: a template cannot be filled.
        """
        query = [*self.out.pairs(self.out.query, context), *self.access.query.items(), *more]
        return self._url.copy_with(params=[*self._url.params.multi_items(), *query]) if query else self._url

    def headers(self, context: Context, token: str, usual: dict[str, str]) -> list[tuple[str, str]]:
        """The usual headers, those with credentials, and what the definition has in their place or beside them.

        Raises:
            EndpointError: one would be more than a line, or a template cannot be filled.
        """
        own = {**usual, **self.access.headers, **(bearer(token) if self.access.adds_bearer else {})}
        given = self.out.pairs(self.out.headers, context)
        names = {name.lower() for name, _ in given}
        return [*((name, value) for name, value in own.items() if name.lower() not in names), *given]
