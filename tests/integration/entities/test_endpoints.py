"""Endpoints as entities: kept, pulled, called."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.chat_service import ChatService

from scoregate.entities import Endpoint, Endpoints, use_store
from scoregate.enums import ConnectionType
from scoregate.errors import EndpointError


def test_an_endpoint_is_pushed_pulled_and_called(chat_service: ChatService, tmp_path: Path) -> None:
    with use_store(tmp_path):
        Endpoint(name="Bot", connection_type=ConnectionType.REST, url=chat_service.url + "/chat").push()
        bot = Endpoints.pull(name="bot")
    first = bot.invoke("hello")
    assert first["output"] == "You said: hello"
    assert (first["context"], first["execution_time"] > 0) == (["the handbook, page 3"], True)
    assert bot.invoke("again", first["conversation_id"])["metadata"]["turn"] == 2
    assert bot.invoke("once more", session_id=first["conversation_id"])["metadata"]["turn"] == 3
    assert bot.test()["conversation_id"] != first["conversation_id"]


def test_a_failed_call_of_an_endpoint_is_shown() -> None:
    bot = Endpoint(name="Bot", connection_type=ConnectionType.REST, url="http://127.0.0.1:9/chat", retries=0)
    with pytest.raises(EndpointError):
        bot.invoke("hello")
    with pytest.raises(ValueError, match="Endpoint is not answering: "):
        bot.test()
