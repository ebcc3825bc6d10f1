"""The connections of clients: as few as there are calls at a time, and the user's own way where the user has one."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from tests.fakes.openai import OpenAIServer
from tests.integration.models.asking import user

from scoregate.models import get_model, wrap

HTTP: Any = sys.modules[type(openai.DEFAULT_CONNECTION_LIMITS).__module__.partition(".")[0]]


async def ask(client: Any, text: str) -> str:
    answer = await client.chat.completions.create(model="gpt-4o", messages=user(text))
    return str(answer.choices[0].message.content)


class Counting(HTTP.AsyncHTTPTransport):
    """Counts the connections."""

    made = 0

    def __init__(self, **options: Any) -> None:
        type(self).made += 1
        super().__init__(**options)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> type[Counting]:
    monkeypatch.setattr(Counting, "made", 0)
    monkeypatch.setattr(HTTP, "AsyncHTTPTransport", Counting)
    return Counting


async def ask_in_rounds(client: Any, *, rounds: int, at_once: int) -> None:
    async with client:
        for turn in range(rounds):
            await asyncio.gather(*(ask(client, f"{turn} {number}") for number in range(at_once)))


@pytest.mark.parametrize("at_once", [1, 7])
def test_a_wrapped_client_has_a_connection_per_call(
    server: OpenAIServer, counting: type[Counting], at_once: int
) -> None:
    asyncio.run(ask_in_rounds(wrap(AsyncOpenAI()), rounds=4, at_once=at_once))
    assert len(server.requests) == 4 * at_once
    assert counting.made == at_once


def test_a_cancelled_call_frees_its_connection(server: OpenAIServer, counting: type[Counting]) -> None:
    async def leave_one() -> str:
        async with wrap(AsyncOpenAI()) as client:
            server.latency = 60.0
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(ask(client, "slow"), 0.3)
            server.latency = 0.0
            return await ask(client, "next")

    assert asyncio.run(leave_one()) == "An answer to: next"
    assert counting.made == 1


@pytest.mark.usefixtures("server")
def test_a_partly_read_stream_frees_its_connection(counting: type[Counting]) -> None:
    async def look_at_one() -> str:
        async with wrap(AsyncOpenAI()) as client:
            stream = await client.chat.completions.create(model="gpt-4o", messages=user("a"), stream=True)
            await stream.close()
            return await ask(client, "b")

    assert asyncio.run(look_at_one()) == "An answer to: b"
    assert counting.made == 1


@pytest.mark.usefixtures("server")
def test_a_custom_http_client_is_used() -> None:
    seen: list[str] = []

    async def look(request: Any) -> None:
        seen.append(request.url.path)

    own = openai.DefaultAsyncHttpxClient(event_hooks={"request": [look]})
    asyncio.run(ask_in_rounds(wrap(AsyncOpenAI(http_client=own)), rounds=1, at_once=2))
    assert seen == ["/v1/chat/completions"] * 2


@pytest.mark.parametrize("who", ["wrapped", "model"])
def test_a_proxy_of_the_environment_is_used(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, who: str) -> None:
    """The fake is its own proxy: it gets a request for an unknown host."""
    address = server.url.split("/v1")[0]
    monkeypatch.setenv("HTTP_PROXY", address)
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://models.invalid/v1")

    async def one() -> str:
        if who == "model":
            return str((await get_model("gpt-4o").a_generate("a")).text)
        async with wrap(AsyncOpenAI(max_retries=0)) as client:
            return await ask(client, "a")

    assert asyncio.run(one()) == "An answer to: a"
