"""The user's own client, wrapped: what it gives stays what it was, and is counted and kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, AzureOpenAI, OpenAI
from openai.types.chat import ChatCompletion
from tests.fakes.openai import OpenAIServer
from tests.integration.models.asking import Grade, user

from scoregate.kernel.types.usage import METER, UsageMeter
from scoregate.models import wrap

CHAT = "*/chat/completions"


def parse(client: Any) -> Any:
    """`parse` of structured answers, which stood under `beta` at first."""
    completions = client.chat.completions if hasattr(client.chat.completions, "parse") else client.beta.chat.completions
    return completions.parse


def chat(client: Any) -> Any:
    return client.chat.completions.create(model="gpt-4o", messages=user("capital"), temperature=0)


def graded(client: Any) -> Any:
    return parse(client)(model="gpt-4o", messages=user("judge"), response_format=Grade)


def create_embeddings(client: Any) -> Any:
    return client.embeddings.create(model="text-embedding-3-small", input=["a", "b"])


def create_response(client: Any) -> Any:
    if not hasattr(client, "responses"):
        pytest.skip("this release of the openai package has no responses API")
    return client.responses.create(model="gpt-4o", input="capital")


CALLS: list[Callable[[Any], Any]] = [chat, graded, create_embeddings, create_response]


def run_call(call: Callable[[Any], Any], *, in_loop: bool) -> Any:
    if not in_loop:
        return call(wrap(OpenAI()))

    async def ask() -> Any:
        async with wrap(AsyncOpenAI()) as client:
            return await call(client)

    return asyncio.run(ask())


def answer_content(answer: Any) -> Any:
    return answer.model_dump(exclude={"id", "created", "created_at"}, warnings=False)


@pytest.mark.parametrize("in_loop", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_counted_and_cached(server: OpenAIServer, call: Callable[[Any], Any], in_loop: bool) -> None:
    server.answers("capital", "Paris")
    plain = call(OpenAI())
    seen = []
    for _ in range(2):
        METER.set(meter := UsageMeter())
        seen.append((run_call(call, in_loop=in_loop), meter.usage))
    (first, paid), (second, read) = seen
    assert type(first) is type(second) is type(plain)
    assert answer_content(first) == answer_content(second) == answer_content(plain)
    assert len(server.requests) == 2
    assert (paid.cached, read.cached, read.answer) == (False, True, paid.answer)
    assert paid.input_tokens > 0
    assert (read.input_tokens, read.cost) == (0, 0.0)
    METER.set(None)


def test_stored_answers_are_parsed(server: OpenAIServer) -> None:
    server.answers("judge", {"choice": "B"})
    for _ in range(2):
        METER.set(UsageMeter())
        assert graded(wrap(OpenAI())).choices[0].message.parsed == Grade(reason="because it is so", choice="B")
    assert len(server.requests) == 1
    METER.set(None)


def test_the_same_question_again_within_a_case_is_another_question(server: OpenAIServer, meter: UsageMeter) -> None:
    client = wrap(OpenAI())
    for _ in range(3):
        chat(client)
    assert len(server.requests) == 3
    METER.set(UsageMeter(repeat=1))
    chat(client)
    assert len(server.requests) == 4, "and so it is in another repeat"
    assert len({usage.answer for usage in meter.usages}) == 3


def test_equal_concurrent_questions_are_asked_once(server: OpenAIServer) -> None:
    server.latency = 0.1

    async def ask(client: AsyncOpenAI) -> None:
        METER.set(UsageMeter())
        await chat(client)

    async def ask_all() -> None:
        async with wrap(AsyncOpenAI()) as client:
            await asyncio.gather(*(asyncio.create_task(ask(client)) for _ in range(5)))

    asyncio.run(ask_all())
    assert len(server.requests) == 1


@pytest.mark.parametrize("in_loop", [False, True], ids=["sync", "async"])
def test_a_stream_is_counted_without_extra_chunks(server: OpenAIServer, meter: UsageMeter, in_loop: bool) -> None:
    server.answers("capital", "Paris is the capital")
    options: dict[str, Any] = {"model": "gpt-4o", "messages": user("capital"), "stream": True}

    async def read() -> list[Any]:
        async with wrap(AsyncOpenAI()) as client:
            return [chunk async for chunk in await client.chat.completions.create(**options)]

    chunks = asyncio.run(read()) if in_loop else list(wrap(OpenAI()).chat.completions.create(**options))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Paris is the capital"
    assert meter.usage is not None
    assert meter.usage.output_tokens > 0
    assert server.asked()[0]["stream_options"] == {"include_usage": True}


def test_a_stream_can_include_usage(server: OpenAIServer, meter: UsageMeter) -> None:
    options: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
    chunks = list(wrap(OpenAI()).chat.completions.create(model="gpt-4o", messages=user("hi"), **options))
    assert chunks[-1].usage is not None
    assert meter.usage is not None
    assert len(server.requests) == 1


def test_responses_as_a_stream(server: OpenAIServer, meter: UsageMeter) -> None:
    client = wrap(OpenAI())
    if not hasattr(client, "responses"):
        pytest.skip("this release of the openai package has no responses API")
    events = list(client.responses.create(model="gpt-4o", input="hi", stream=True))
    assert events[-1].type == "response.completed"
    assert meter.usage is not None
    assert len(server.requests) == 1


def test_it_stays_a_client(server: OpenAIServer) -> None:
    given = OpenAI(timeout=7, default_headers={"X-Mine": "1"})
    client = wrap(given)
    assert isinstance(client, OpenAI)
    assert (client.timeout, client.max_retries, client.base_url) == (7, given.max_retries, given.base_url)
    assert wrap(client) is client
    assert [model.id for model in client.models.list()] == ["gpt-4o"]
    assert isinstance(chat(client), ChatCompletion)
    assert server.requests[-1].headers["x-mine"] == "1"


def test_its_copies_and_raw_responses_are_counted_too(server: OpenAIServer, meter: UsageMeter) -> None:
    client = wrap(OpenAI())
    chat(client.with_options(timeout=3))
    raw = client.chat.completions.with_raw_response.create(model="gpt-4o", messages=user("hi"))
    assert raw.parse().choices[0].message.content
    assert raw.headers["content-type"] == "application/json"
    assert len(meter.usages) == len(server.requests) == 2


@pytest.mark.parametrize("in_loop", [False, True], ids=["sync", "async"])
def test_errors_are_those_of_the_package_with_advice(server: OpenAIServer, in_loop: bool) -> None:
    server.models = ["another"]
    with pytest.raises(openai.NotFoundError) as failure:
        run_call(chat, in_loop=in_loop)
    assert "gpt-6-luna" in failure.value.advice  # type: ignore[attr-defined]


def test_temporary_errors_are_retried_and_not_stored(server: OpenAIServer, meter: UsageMeter) -> None:
    server.fail("POST", CHAT, status=500)
    server.rate_limit("POST", CHAT, status=429, retry_after=0)
    assert chat(wrap(OpenAI())).choices[0].message.content
    assert len(server.requests) == 3
    assert len(meter.usages) == 1
    server.filters_content("poison")
    for _ in range(2):
        METER.set(UsageMeter())
        answer = wrap(OpenAI()).chat.completions.create(model="gpt-4o", messages=user("poison"))
        assert answer.choices[0].finish_reason == "content_filter"
    assert len(server.requests) == 5


def test_azures_client(server: OpenAIServer, meter: UsageMeter) -> None:
    client = wrap(AzureOpenAI(azure_endpoint=server.url.removesuffix("/v1"), api_version="2024-10-21", api_key="k"))
    assert chat(client).choices[0].message.content
    assert server.requests[0].path.endswith("/deployments/gpt-4o/chat/completions")
    assert meter.usage is not None


def test_other_objects_are_no_client() -> None:
    with pytest.raises(TypeError, match="not a str"):
        wrap("client")
