"""What all conversations over one endpoint share in an event loop: clients, turns, tokens."""

from __future__ import annotations

from scoregate.endpoints.addresses import without_parameters
from scoregate.endpoints.clients import Clients
from scoregate.endpoints.surroundings import Surroundings
from scoregate.endpoints.tokens import Tokens
from scoregate.endpoints.turns import Pace, Slots
from scoregate.store.endpoints import ClientCredentials, StoredEndpoint


class Shared:
    """Of one endpoint. `tokens` are None where none have to be fetched."""

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
