"""Fixtures of the fakes; a conftest.py that wants them imports them by name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.fakes.chat_service import ChatService
from tests.fakes.github import GitHub
from tests.fakes.openai import OpenAIServer


@pytest.fixture
def github() -> Iterator[GitHub]:
    """GitHub on loopback; at the end nothing may have been asked that GitHub's description forbids."""
    with GitHub.start() as running:
        yield running
    assert running.violations == []


@pytest.fixture
def openai_server() -> Iterator[OpenAIServer]:
    """OpenAI's protocol on loopback."""
    with OpenAIServer.start() as running:
        yield running


@pytest.fixture
def chat_service() -> Iterator[ChatService]:
    """A chat service on loopback, as an endpoint under test."""
    with ChatService.start() as running:
        yield running
