"""What the tests of running tests share: a project of one's own, a service under test, and a model that answers."""

from __future__ import annotations

import pytest
from tests.fakes.chat_service import ChatService
from tests.fakes.fixtures import chat_service
from tests.integration.host.conftest import project
from tests.integration.judging.conftest import root, server

from scoregate.entities import Endpoint

__all__ = ["chat_service", "project", "root", "server"]


@pytest.fixture
def endpoint(chat_service: ChatService) -> Endpoint:
    """The service as a stored endpoint; it repeats its messages."""
    new_endpoint = Endpoint(
        name="Production Chatbot", connection_type="REST", url=f"{chat_service.url}/chat", retries=0
    )
    new_endpoint.push()
    return new_endpoint
