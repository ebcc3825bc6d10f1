"""Under limits: the allowed rate is used, nothing fails, and waiting is no latency."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from openai import AsyncOpenAI
from tests.fakes.openai import OpenAIServer
from tests.fakes.openai.limits import Bucket
from tests.integration.models.asking import BOTH, Ask, user

from scoregate.errors import RateLimited
from scoregate.kernel.types.usage import UsageMeter
from scoregate.models import get_model, wrap
from scoregate.testing import run_test_suite

CHAT = "*/chat/completions"


async def ask_many(count: int, *, at_once: int, first: int = 0) -> None:
    """Half of them by a model, half by a wrapped client: they share their turns."""
    model, numbers = get_model("gpt-4o"), iter(range(first, first + count))
    async with wrap(AsyncOpenAI()) as client:

        async def work() -> None:
            for number in numbers:
                if number % 2:
                    await model.a_generate(f"question {number}")
                else:
                    await client.chat.completions.create(model="gpt-4o", messages=user(f"question {number}"))

        await asyncio.gather(*(work() for _ in range(at_once)))


@pytest.mark.parametrize(
    ("tells", "waits"), [(True, True), (True, False), (False, True)], ids=["told", "headers only", "retry-after only"]
)
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_server_rate_is_used_without_errors(server: OpenAIServer, tells: bool, waits: bool) -> None:
    server.latency = 0.02
    server.bucket = Bucket(900, burst=10, tells=tells, waits=waits)
    started = time.monotonic()
    asyncio.run(ask_many(70, at_once=20))
    assert server.bucket.taken == 70
    assert time.monotonic() - started < 60, "5 s at the server's rate; benchmarks/ asks for 0.95 of it"


def test_the_rate_of_a_server_is_learned_from_retry_after(server: OpenAIServer) -> None:
    """It takes one call at a time, and wants a whole second after each that is too early."""
    server.bucket = Bucket(900, burst=1, tells=False, fine=False)
    asyncio.run(ask_many(40, at_once=20))
    refusals = server.bucket.refused
    asyncio.run(ask_many(50, at_once=20, first=40))
    assert server.bucket.taken == 90
    assert server.bucket.refused - refusals <= 30, "97 without learning; benchmarks/ asks for the rate"


@pytest.mark.parametrize("ask", BOTH)
@pytest.mark.parametrize(
    "headers", [{"retry-after": "1"}, {"retry-after-ms": "1000"}, {"x-ratelimit-reset-requests": "1s"}]
)
def test_retry_after_is_respected(server: OpenAIServer, ask: Ask, headers: dict[str, str]) -> None:
    server.fail("POST", CHAT, status=429, headers=headers)
    started = time.monotonic()
    assert ask(get_model("gpt-4o"), "hello").text
    assert 1.0 <= time.monotonic() - started < 30.0
    assert len(server.requests) == 2


def test_a_too_long_retry_after_is_an_error(server: OpenAIServer) -> None:
    server.rate_limit("POST", CHAT, status=429, retry_after=86_400)
    started = time.monotonic()
    with pytest.raises(RateLimited, match="429") as failure:
        get_model("gpt-4o").generate("hello")
    assert time.monotonic() - started < 60
    assert failure.value.advice


def test_waiting_is_no_latency(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    measure, waits = UsageMeter.measure_wait, list[float]()

    @contextmanager
    def measure_twice(meter: UsageMeter) -> Iterator[None]:
        with measure(meter):
            waiting = time.perf_counter()
            yield
            waits.append(time.perf_counter() - waiting)

    monkeypatch.setattr(UsageMeter, "measure_wait", measure_twice)
    server.rate_limit("POST", CHAT, status=429, retry_after=1)
    client = wrap(AsyncOpenAI())

    async def fn(case: dict[str, str]) -> str:
        answer = await client.chat.completions.create(model="gpt-4o", messages=user(case["q"]))
        return answer.choices[0].message.content or ""

    started = time.perf_counter()
    result = run_test_suite("slow", [{"q": "a"}], fn, test_case_hash=["q"])
    elapsed_s = time.perf_counter() - started
    assert elapsed_s >= 1
    (case,) = result.cases
    assert case.duration_ms is not None
    assert waits
    assert case.duration_ms / 1_000 <= elapsed_s - sum(waits)
