"""A repository with a store, a chat service and models, all of them real."""

from __future__ import annotations

from tests.fakes.fixtures import chat_service, openai_server
from tests.integration.store.conftest import project

__all__ = ["chat_service", "openai_server", "project"]
