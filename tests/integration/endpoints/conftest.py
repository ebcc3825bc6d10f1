"""The service under test, and endpoints that lead to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.fakes.chat_service import ChatService
from tests.fakes.fixtures import chat_service

from scoregate.endpoints import EndpointTarget, open_target
from scoregate.endpoints.target import EndpointSession
from scoregate.kernel.types.cleanup import close_at_end
from scoregate.store import StoredEndpoint

__all__ = ["chat_service"]
Talking = Callable[..., Any]


@pytest.fixture
def talking(chat_service: ChatService) -> Talking:
    """`async with talking(**fields) as talk`: a conversation with the service over an endpoint with these fields."""

    @asynccontextmanager
    async def opened(environment: dict[str, str] | None = None, **fields: Any) -> AsyncIterator[EndpointSession]:
        target = opened_target(chat_service, environment, **fields)
        async with close_at_end(), target.session() as talk:
            yield talk

    return opened


def opened_target(service: ChatService, environment: dict[str, str] | None = None, **fields: Any) -> EndpointTarget:
    definition = {"name": "bot", "url": f"{service.url}/chat", **fields}
    return open_target(StoredEndpoint(**definition), environment=environment or {})
