"""Messages over a WebSocket: one connection per conversation, and errors of broken connections."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.fakes.chat_service import ChatService
from tests.integration.endpoints.conftest import Talking

from scoregate.errors import EndpointError

pytestmark = pytest.mark.anyio


def socket(service: ChatService, **fields: Any) -> dict[str, Any]:
    return {"connection_type": "WebSocket", "url": service.ws_url, "timeout_seconds": 60, **fields}


async def test_a_conversation_has_one_connection(talking: Talking, chat_service: ChatService) -> None:
    async with talking(**socket(chat_service, request_mapping={"input": "{{ input }}"})) as talk:
        first = await talk.send("I live in Rome")
        second = await talk.send("What did I say?")
    assert (first.output, second.output) == ("You said: I live in Rome", "You said: I live in Rome")
    assert (chat_service.connections, second.metadata["turn"]) == (1, 2)


async def test_a_rejected_login_is_shown(talking: Talking, chat_service: ChatService) -> None:
    chat_service.guard.token = "token-of-the-service"
    with pytest.raises(EndpointError, match="answered 401") as caught:
        async with talking(**socket(chat_service)) as talk:
            await talk.send("hello")
    assert (caught.value.kind, caught.value.status) == ("http_error", 401)
    environment = {"TOKEN": "token-of-the-service"}
    async with talking(environment, **socket(chat_service, auth_token="${TOKEN}")) as talk:
        assert (await talk.send("hello")).output == "You said: hello"


async def test_a_busy_service_is_retried(talking: Talking, chat_service: ChatService) -> None:
    chat_service.fail("GET", "/ws", status=503, headers={"retry-after": "0"})
    async with talking(**socket(chat_service)) as talk:
        assert (await talk.send("hello")).output == "You said: hello"


async def test_no_redirect_gets_the_token(talking: Talking, chat_service: ChatService) -> None:
    with ChatService.start() as elsewhere:
        chat_service.fail("GET", "/ws", status=307, headers={"location": elsewhere.ws_url})
        with pytest.raises(EndpointError, match="307"):
            async with talking({"T": "secret"}, **socket(chat_service, auth_token="${T}")) as talk:
                await talk.send("hello")
        assert elsewhere.connections == 0


async def test_a_broken_connection_is_an_error(talking: Talking, chat_service: ChatService) -> None:
    chat_service.drop("SEND", "/ws")
    with pytest.raises(EndpointError) as caught:
        async with talking(**socket(chat_service)) as talk:
            await talk.send("hello")
    assert caught.value.kind == "network_error"


async def test_messages_without_output_are_skipped(talking: Talking, chat_service: ChatService) -> None:
    for limit in (2, 60):  # on a busy machine, no message may arrive in two seconds
        chat_service.fail("SEND", "/ws", body={"type": "still thinking"})
        with pytest.raises(EndpointError) as caught:
            async with talking(**socket(chat_service, timeout_seconds=limit)) as talk:
                await talk.send("hello")
        if "the last message was" in str(caught.value):
            break
    assert re.search(rf"no output within {limit} s; the last message was .*still thinking", str(caught.value))
    assert caught.value.kind == "timeout"


@pytest.mark.parametrize(("body", "kind"), [("}{", "json_parsing_error"), ({"error": "overloaded"}, "mapping_error")])
async def test_an_invalid_reply_fails_at_once(
    talking: Talking, chat_service: ChatService, body: Any, kind: str
) -> None:
    chat_service.fail("SEND", "/ws", body=body)
    with pytest.raises(EndpointError) as caught:
        async with talking(**socket(chat_service)) as talk:
            await talk.send("hello")
    assert caught.value.kind == kind
