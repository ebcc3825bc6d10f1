"""Who may come in: tokens, keys and credentials from the environment, and no secret in any message."""

from __future__ import annotations

import logging
import time
import traceback
from contextlib import suppress
from math import inf
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from tests.fakes.chat_service import ChatService
from tests.integration.endpoints.conftest import Talking, opened_target

from scoregate.endpoints import auth
from scoregate.errors import EndpointError
from scoregate.kernel.types.cleanup import close_at_end

pytestmark = pytest.mark.anyio
SECRET = 'the "secret"/of us'


def credentials(service: ChatService, **more: Any) -> dict[str, Any]:
    service.guard.clients = {"scoregate": SECRET}
    url = f"{service.url}/token"
    return {"type": "client_credentials", "token_url": url, "client_id": "scoregate", "client_secret": "${S}", **more}


@pytest.mark.parametrize(
    "fields",
    [
        {"auth_token": "${TOKEN}"},
        {"auth_token": "Bearer ${TOKEN}"},
        {"auth": {"type": "bearer_token", "token": "${TOKEN}"}},
        {"request_headers": {"authorization": "Bearer ${TOKEN}"}},
        {"auth_token": "${TOKEN}", "request_headers": {"Authorization": "Bearer {{ auth_token }}"}},
    ],
)
async def test_a_token_is_shown(talking: Talking, chat_service: ChatService, fields: dict[str, Any]) -> None:
    chat_service.guard.token = SECRET
    async with talking({"TOKEN": SECRET}, **fields) as talk:
        assert (await talk.send("hello")).output == "You said: hello"
    values = [value for name, value in chat_service.requests[0].headers.items() if name == "authorization"]
    assert values == [f"Bearer {SECRET}"]


@pytest.mark.parametrize(
    "fields",
    [
        {"auth": {"type": "api_key", "key": "${KEY}"}},
        {"auth": {"type": "api_key", "key": "${KEY}", "query": "key"}},
        {"query_params": {"key": "${KEY}"}},
    ],
)
async def test_a_key_is_shown(talking: Talking, chat_service: ChatService, fields: dict[str, Any]) -> None:
    chat_service.guard.key = SECRET
    async with talking({"KEY": SECRET}, **fields) as talk:
        assert (await talk.send("hello")).output == "You said: hello"


@pytest.mark.parametrize("basic", [False, True])
async def test_a_token_is_fetched_once_for_all(chat_service: ChatService, basic: bool) -> None:
    chat_service.latency = 0.05
    target = opened_target(chat_service, {"S": SECRET}, auth=credentials(chat_service, basic=basic))

    async def one() -> None:
        async with target.session() as talk:
            await talk.send("hello")

    async with close_at_end():
        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(one)
        assert len(chat_service.requests) == 9
        assert [each.path for each in chat_service.requests].count("/token") == 1


async def test_a_rejected_token_is_fetched_again(talking: Talking, chat_service: ChatService) -> None:
    async with talking({"S": SECRET}, auth=credentials(chat_service)) as talk:
        await talk.send("a")
        chat_service.guard.revoke()
        assert (await talk.send("what did I say")).output == "You said: a"
        assert len(chat_service.guard.issued) == 1
        chat_service.fail("POST", "/chat", status=401, times=5)
        with pytest.raises(EndpointError, match="answered 401"):
            await talk.send("b")
    assert [each.path for each in chat_service.requests][-3:] == ["/chat", "/token", "/chat"]


async def test_an_expired_token_is_fetched_again(
    talking: Talking, chat_service: ChatService, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed_s = 0
    monkeypatch.setattr(auth, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + passed_s))
    async with talking({"S": SECRET}, auth=credentials(chat_service)) as talk:
        await talk.send("a")
        passed_s = 3600
        await talk.send("b")
    assert [each.path for each in chat_service.requests] == ["/token", "/chat", "/token", "/chat"]


async def test_wrong_credentials_are_shown_once(talking: Talking, chat_service: ChatService) -> None:
    async with talking({"S": "wrong one"}, auth=credentials(chat_service)) as talk:
        for _ in range(3):
            with pytest.raises(EndpointError, match="/token: answered 401"):
                await talk.send("hello")
    assert len(chat_service.requests) == 1


async def test_a_variable_that_is_not_set_is_named(talking: Talking) -> None:
    for environment in ({}, {"TOKEN": ""}):
        with pytest.raises(EndpointError, match=r"bot: .*environment variable TOKEN.* is not set") as caught:
            async with talking(environment, auth_token="${TOKEN}"):
                pass
        assert "Set TOKEN" in caught.value.advice


async def test_no_message_shows_a_secret(talking: Talking, chat_service: ChatService) -> None:
    chat_service.guard.token = "another"
    with pytest.raises(EndpointError) as caught:
        async with talking({"TOKEN": SECRET, "HOST": chat_service.address}, auth_token="${TOKEN}") as talk:
            await talk.send("hello")
    text = str(caught.value) + "".join(traceback.format_exception(caught.value))
    assert "${TOKEN}" in text, "the service has said what it was shown"
    assert SECRET not in text
    assert "of us" not in text


async def test_no_message_shows_a_token_without_its_first_word(talking: Talking, chat_service: ChatService) -> None:
    chat_service.fail("POST", "/chat", status=400, body={"error": f"who is {SECRET}?"})
    with pytest.raises(EndpointError, match=r"who is \*\*\*\?"):
        async with talking({"TOKEN": f"Bearer {SECRET}"}, auth_token="${TOKEN}") as talk:
            await talk.send("hello")


async def test_no_message_shows_the_beginning_of_a_secret(talking: Talking, chat_service: ChatService) -> None:
    chat_service.fail("POST", "/chat", status=400, body=(" " * 3990 + SECRET).encode())
    with pytest.raises(EndpointError) as caught:
        async with talking({"TOKEN": SECRET}, auth_token="${TOKEN}") as talk:
            await talk.send("hello")
    assert SECRET[:10] not in caught.value.message


async def test_no_log_shows_a_secret(
    talking: Talking, chat_service: ChatService, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    chat_service.guard.key = "key-of-the-service"
    auth = {"type": "api_key", "key": "${KEY}"}
    socket = {"connection_type": "WebSocket", "url": chat_service.ws_url}
    for fields in ({"auth": {**auth, "query": "key"}}, {"auth": auth}, {"auth": auth, **socket}):
        async with talking({"KEY": "key-of-the-service"}, **fields) as talk:
            await talk.send("hello")
    ours = [each for each in caplog.records if each.name.startswith(("http", "scoregate", "websockets.client"))]
    assert [each.getMessage() for each in ours if "key-of-the-service" in each.getMessage()] == []


@pytest.mark.parametrize("body", [{}, {"access_token": 5}, {"access_token": ""}, []])
async def test_a_missing_token_is_requested_once(talking: Talking, chat_service: ChatService, body: object) -> None:
    auth = credentials(chat_service)
    chat_service.fail("POST", "/token", status=200, body=body)
    async with talking({"S": SECRET}, auth=auth) as talk:
        for _ in range(3):
            with pytest.raises(EndpointError, match="no access_token in the answer") as caught:
                await talk.send("hello")
    assert (caught.value.kind, len(chat_service.requests)) == ("json_parsing_error", 1)


async def test_a_token_request_that_times_out_is_repeated(talking: Talking, chat_service: ChatService) -> None:
    replies: list[str] = []
    for limit in (2, 60):  # on a busy machine, an answer may take longer than two seconds
        chat_service.slow("POST", "/token", seconds=300)
        async with talking({"S": SECRET}, auth=credentials(chat_service), timeout_seconds=limit) as talk:
            with pytest.raises(EndpointError, match=rf"no answer within {limit} s"):
                await talk.send("hello")
            with suppress(EndpointError):
                replies.append((await talk.send("hello")).output)
        if replies:
            break
    assert replies == ["You said: hello"]


async def test_a_hanging_token_service_gets_few_requests(talking: Talking, chat_service: ChatService) -> None:
    chat_service.slow("POST", "/token", seconds=300, times=inf)
    for limit in (0.5, 20):  # on a busy machine, a request may need longer than the first to arrive
        chat_service.requests.clear()
        async with talking({"S": SECRET}, auth=credentials(chat_service), timeout_seconds=limit) as talk:
            for _ in range(6):
                with pytest.raises(EndpointError, match=rf"no answer within {limit} s"):
                    await talk.send("hello")
        if len(chat_service.requests) == 3:
            break
    assert len(chat_service.requests) == 3
