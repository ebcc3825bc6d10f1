"""What goes wrong on the other side is an error of the message, and what passes is tried again."""

from __future__ import annotations

import time
from math import inf
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from tests.fakes.chat_service import ChatService
from tests.integration.endpoints.conftest import Talking, opened_target

from scoregate.endpoints import http, retry
from scoregate.errors import EndpointError
from scoregate.kernel.types.cleanup import close_at_end
from scoregate.kernel.types.usage import METER, UsageMeter

pytestmark = pytest.mark.anyio


@pytest.fixture
def short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "_FIRST_DELAY_S", 0.01)


async def send_failing(talking: Talking, **fields: Any) -> EndpointError:
    with pytest.raises(EndpointError) as caught:
        async with talking(**fields) as talk:
            await talk.send("hello")
    return caught.value


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
@pytest.mark.usefixtures("short_delays")
async def test_temporary_faults_are_retried(talking: Talking, chat_service: ChatService, status: int) -> None:
    chat_service.fail("POST", "/chat", status=status, times=3)
    async with talking() as talk:
        assert (await talk.send("hello")).output == "You said: hello"
    assert len(chat_service.requests) == 4


@pytest.mark.usefixtures("short_delays")
async def test_a_dropped_connection_is_retried(talking: Talking, chat_service: ChatService) -> None:
    chat_service.drop("POST", "/chat", times=2)
    async with talking() as talk:
        assert (await talk.send("hello")).output == "You said: hello"


@pytest.mark.usefixtures("short_delays")
async def test_retries_are_limited(talking: Talking, chat_service: ChatService) -> None:
    chat_service.fail("POST", "/chat", status=500, body={"error": "out of order"}, times=inf)
    error = await send_failing(talking, retries=2)
    assert (error.kind, error.status, len(chat_service.requests)) == ("http_error", 500, 3)
    assert 'answered 500 (Internal Server Error): {"error": "out of order"}' in error.message


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 422, 501])
async def test_permanent_faults_fail_at_once(talking: Talking, chat_service: ChatService, status: int) -> None:
    chat_service.fail("POST", "/chat", status=status, body={"detail": "x" * 5000}, times=inf)
    error = await send_failing(talking)
    assert (error.kind, error.status, len(chat_service.requests)) == ("http_error", status, 1)
    assert len(error.message) < 500
    assert error.advice


async def test_retry_after_is_respected_and_no_latency(
    talking: Talking, chat_service: ChatService, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleep, waits = anyio.sleep, list[float]()

    async def record_wait(seconds: float) -> None:
        waits.append(seconds)
        await sleep(seconds)

    monkeypatch.setattr(retry, "anyio", SimpleNamespace(**vars(anyio) | {"sleep": record_wait}))
    chat_service.fail("POST", "/chat", status=429, headers={"retry-after": "0.3"})
    METER.set(meter := UsageMeter())
    started = time.perf_counter()
    async with talking() as talk:
        await talk.send("hello")
    elapsed_s = time.perf_counter() - started
    assert elapsed_s >= 0.3
    assert sum(waits) <= meter.waited_s <= elapsed_s


@pytest.mark.usefixtures("short_delays")
@pytest.mark.parametrize("retry_after", ["soon", "nan", "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"])
async def test_a_429_without_a_time_is_retried(talking: Talking, chat_service: ChatService, retry_after: str) -> None:
    chat_service.fail("POST", "/chat", status=503, headers={"retry-after": retry_after})
    async with talking() as talk:
        assert (await talk.send("hello")).output == "You said: hello"


async def test_a_wait_has_a_limit(talking: Talking, chat_service: ChatService) -> None:
    chat_service.fail("POST", "/chat", status=429, headers={"retry-after": "3600"})
    error = await send_failing(talking)
    assert (error.status, len(chat_service.requests)) == (429, 1)


@pytest.mark.usefixtures("short_delays")
async def test_a_refused_connection_is_an_error(talking: Talking) -> None:
    async with talking(url="http://127.0.0.1:9/chat") as talk:
        for _ in range(2):
            with pytest.raises(EndpointError, match="ConnectError") as caught:
                await talk.send("hello")
    assert caught.value.kind == "network_error"


async def test_a_slow_answer_times_out(talking: Talking, chat_service: ChatService) -> None:
    chat_service.slow("POST", "/chat", 300, times=inf)
    for limit in (1, 60):  # on a busy machine, the message may need longer than a second to arrive
        error = await send_failing(talking, timeout_seconds=limit)
        assert error.kind == "timeout"
        if chat_service.requests:
            break
    assert len(chat_service.requests) == 1


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>busy</html>", "json_parsing_error"),
        (b"", "json_parsing_error"),
        (b"\xff\xfe\x00", "json_parsing_error"),
        (b"[" * 200_000, "json_parsing_error"),
        (b'{"output": null}', "mapping_error"),
        (b'{"error": "no"}', "mapping_error"),
        (b"[1]", "mapping_error"),
        (b'{"output": "a", "conversation_id": {"a": 1}}', "mapping_error"),
    ],
)
async def test_an_answer_without_an_output_is_never_judged(
    talking: Talking, chat_service: ChatService, body: bytes, kind: str
) -> None:
    chat_service.fail("POST", "/chat", status=200, body=body)
    assert (await send_failing(talking)).kind == kind


async def test_an_answer_is_read_up_to_its_limit(
    talking: Talking, chat_service: ChatService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "LARGEST_RESPONSE", 1000)
    chat_service.answers("hello", "x" * 2000)
    assert "larger than 1,000 bytes" in (await send_failing(talking)).message


@pytest.mark.parametrize(("status", "method"), [(307, "POST"), (308, "POST"), (302, "GET")])
async def test_a_redirect_within_the_service_is_followed(
    talking: Talking, chat_service: ChatService, status: int, method: str
) -> None:
    chat_service.moved_status, chat_service.moved_to = status, "/chat?input=hello" if method == "GET" else "/chat"
    async with talking(url=f"{chat_service.url}/moved", method=method) as talk:
        assert (await talk.send("hello")).output == "You said: hello"


async def test_no_redirect_leaves_the_service(talking: Talking, chat_service: ChatService) -> None:
    with ChatService.start() as elsewhere:
        chat_service.moved_to = f"{elsewhere.url}/chat?token=1"
        error = await send_failing(talking, url=f"{chat_service.url}/moved")
        assert elsewhere.requests == []
    assert f"redirected to {elsewhere.url}/chat, which is not followed" in error.message


async def test_a_redirect_loop_ends(talking: Talking, chat_service: ChatService) -> None:
    chat_service.moved_to = "/moved"
    assert "more than 3 times" in (await send_failing(talking, url=f"{chat_service.url}/moved")).message


async def send_concurrently(service: ChatService, number: int, **fields: Any) -> float:
    target = opened_target(service, **fields)

    async def one() -> None:
        async with target.session() as talk:
            await talk.send("hello")

    started = time.perf_counter()
    async with close_at_end(), anyio.create_task_group() as group:
        for _ in range(number):
            group.start_soon(one)
    return time.perf_counter() - started


async def test_concurrent_requests_are_limited(chat_service: ChatService) -> None:
    chat_service.latency = 0.05
    await send_concurrently(chat_service, 12, max_concurrency=3)
    assert chat_service.most_at_once == 3


async def test_requests_per_minute_are_limited(chat_service: ChatService) -> None:
    assert await send_concurrently(chat_service, 7, requests_per_minute=600) >= 0.6
    assert len(chat_service.requests) == 7
