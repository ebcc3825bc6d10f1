"""Answers of a model, and every reason for which there is none."""

from __future__ import annotations

import math
import time

import pytest
from tests.fakes.openai import OpenAIServer, Reply, ToolCall
from tests.integration.models.asking import BOTH, Ask, Grade, ask_sync

from scoregate.errors import (
    ContentFiltered,
    MalformedAnswer,
    MissingKey,
    ModelError,
    ModelGone,
    RateLimited,
    RefusedRequest,
    RefusedSchema,
    Unreachable,
)
from scoregate.kernel.types.usage import UsageMeter
from scoregate.models import Model, get_model

CHAT = "*/chat/completions"


@pytest.mark.parametrize("ask", BOTH)
def test_a_text_with_its_usage(server: OpenAIServer, meter: UsageMeter, ask: Ask) -> None:
    server.answers("capital", "Paris")
    server.cached_tokens = 2
    answer = ask(get_model("gpt-4o", max_tokens=9), "The capital of France?", temperature=0)
    assert (answer.text, answer.parsed, answer.cached, answer.finish_reason) == ("Paris", None, False, "stop")
    assert (answer.usage.cached_tokens, answer.usage.model) == (2, "gpt-4o")
    assert answer.usage.cost is not None and answer.usage.cost > 0  # noqa: PT018
    assert meter.usages == (answer.usage,)
    (body,) = server.asked()
    assert (body["temperature"], body["max_tokens"], body["messages"][-1]["content"]) == (
        0,
        9,
        "The capital of France?",
    )


@pytest.mark.parametrize("ask", BOTH)
@pytest.mark.parametrize(
    ("refused", "requests"),
    [([], 1), (["json_schema"], 2), (["json_schema", "tools"], 3)],
    ids=["json schema", "tool", "json mode"],
)
def test_an_object_in_every_form_of_schema(server: OpenAIServer, ask: Ask, refused: list[str], requests: int) -> None:
    server.answers("judge", {"choice": "B"})
    server.does_not_take(*refused)
    model = get_model("some-model")
    assert ask(model, "judge 1", schema=Grade).parsed == Grade(reason="because it is so", choice="B")
    assert len(server.requests) == requests
    ask(model, "judge 2", schema=Grade)
    assert len(server.requests) == requests + 1, "what was refused once is not tried again"


def test_an_unsupported_schema(server: OpenAIServer) -> None:
    server.does_not_take("json_schema", "tools", "json_object")
    with pytest.raises(RefusedSchema, match="openai/some-model") as failure:
        get_model("some-model").generate("judge", schema=Grade)
    assert failure.value.advice


def test_unsupported_parameters_are_dropped_or_renamed(server: OpenAIServer) -> None:
    server.does_not_take("temperature", "max_tokens")
    answer = get_model("o9").generate("hello", temperature=0, max_tokens=7)
    assert answer.text
    assert "temperature" not in server.asked()[-1]
    assert server.asked()[-1]["max_completion_tokens"] == 7


@pytest.mark.parametrize("ask", BOTH)
def test_a_malformed_answer_is_repaired_once(server: OpenAIServer, meter: UsageMeter, ask: Ask) -> None:
    server.answers("judge", "I think it is A.", times=1)
    answer = ask(get_model("gpt-4o"), "judge", schema=Grade)
    assert answer.parsed.choice == "A"
    first, second = server.asked()
    assert "I think it is A." in str(second["messages"]) and "choice" in str(second["messages"])  # noqa: PT018
    assert answer.usage == meter.usage, "both answers are paid for"
    assert len(meter.usages) == 2
    assert first["messages"] == second["messages"][: len(first["messages"])]


@pytest.mark.parametrize("ask", BOTH)
def test_a_malformed_answer_is_not_stored_after_a_retry(server: OpenAIServer, ask: Ask) -> None:
    server.answers(".", '{"reason": "x", "choice": "C"}')
    for _ in range(2):
        with pytest.raises(MalformedAnswer, match="choice") as failure:
            ask(get_model("gpt-4o"), "judge", schema=Grade)
        assert failure.value.advice
    assert len(server.requests) == 4


def test_a_truncated_answer_is_not_repaired(server: OpenAIServer) -> None:
    server.truncates("judge")
    with pytest.raises(MalformedAnswer, match="cut off") as failure:
        get_model("gpt-4o").generate("judge", schema=Grade)
    assert "max_tokens" in failure.value.advice
    assert len(server.requests) == 1


def test_json_in_a_fence_is_json(server: OpenAIServer) -> None:
    server.answers("judge", '```json\n{"reason": "x", "choice": "B"}\n```')
    assert get_model("gpt-4o").generate("judge", schema=Grade).parsed.choice == "B"
    assert len(server.requests) == 1


@pytest.mark.parametrize("ask", BOTH)
def test_filters_and_refusals_are_not_stored(server: OpenAIServer, ask: Ask) -> None:
    server.filters_content("poison")
    server.answers("crime", Reply(None, refusal="I will not."))
    for prompt, word in (("poison", "filter"), ("crime", "I will not"), ("poison", "filter")):
        with pytest.raises(ContentFiltered, match=word) as failure:
            ask(get_model("gpt-4o"), prompt)
        assert failure.value.advice
    assert len(server.requests) == 3


def test_a_filter_that_stops_the_question(server: OpenAIServer) -> None:
    error = {"error": {"message": "The prompt was filtered.", "code": "content_filter", "param": "prompt"}}
    server.fail("POST", CHAT, status=400, body=error)
    with pytest.raises(ContentFiltered, match="The prompt was filtered"):
        get_model("gpt-4o").generate("poison")


def test_no_key(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(MissingKey, match="openai/gpt-4o") as failure:
        get_model("gpt-4o").generate("hello")
    assert "OPENAI_API_KEY" in failure.value.advice
    assert server.requests == []


def test_an_invalid_key(server: OpenAIServer) -> None:
    server.keys = ["another"]
    with pytest.raises(MissingKey, match="401") as failure:
        get_model("gpt-4o").generate("hello")
    assert "OPENAI_API_KEY" in failure.value.advice
    assert len(server.requests) == 1


def test_a_retired_model_and_its_replacement(server: OpenAIServer) -> None:
    server.models = ["gpt-6-luna"]
    with pytest.raises(ModelGone, match="gpt-4o") as failure:
        get_model().generate("hello")
    assert "gpt-6-luna" in failure.value.advice
    assert "SCOREGATE_MODEL" in failure.value.advice
    assert len(server.requests) == 1


def test_a_refused_request_is_not_repeated(server: OpenAIServer) -> None:
    server.fail("POST", CHAT, status=400, body={"error": {"message": "Too long.", "code": "context_length_exceeded"}})
    with pytest.raises(RefusedRequest, match="Too long"):
        get_model("gpt-4o").generate("hello")
    assert len(server.requests) == 1


def test_an_exhausted_quota_is_not_retried(server: OpenAIServer) -> None:
    body = {"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}}
    server.fail("POST", CHAT, status=429, body=body)
    with pytest.raises(RateLimited, match="quota") as failure:
        get_model("gpt-4o").generate("hello")
    assert "billing" in failure.value.advice
    assert len(server.requests) == 1


@pytest.mark.parametrize("ask", BOTH)
def test_temporary_errors_are_retried(server: OpenAIServer, ask: Ask) -> None:
    server.fail("POST", CHAT, status=500)
    server.drop("POST", CHAT)
    assert ask(get_model("gpt-4o"), "hello").text
    assert len(server.requests) == 3


def test_a_timeout_is_retried(server: OpenAIServer) -> None:
    server.slow("POST", CHAT, 60)
    started = time.monotonic()
    assert get_model("gpt-4o", timeout_s=1.0).generate("hello").text
    assert time.monotonic() - started < 50


def test_lasting_faults_end(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoregate.models.ask.MAX_ATTEMPTS", 2)
    server.fail("POST", CHAT, status=503, times=math.inf)
    with pytest.raises(Unreachable, match="503"):
        get_model("gpt-4o").generate("hello")
    server.faults.clear()
    server.drop("POST", CHAT, times=math.inf)
    with pytest.raises(Unreachable, match=server.url.removesuffix("/v1")) as failure:
        get_model("gpt-4o").generate("hello")
    assert failure.value.advice
    assert len(server.requests) == 4


def test_an_invalid_body(server: OpenAIServer) -> None:
    server.fail("POST", CHAT, status=200, body=[1], times=2)
    with pytest.raises(MalformedAnswer, match="no choices"):
        get_model("gpt-4o").generate("hello")


@pytest.mark.usefixtures("server")
def test_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoregate.models.ask.MAX_ATTEMPTS", 1)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:9"):
        get_model("gpt-4o").generate("hello")


@pytest.mark.usefixtures("server")
def test_the_projects_model_replaces_every_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert get_model().name == "openai/gpt-4o"
    monkeypatch.setenv("SCOREGATE_MODEL", "ollama/llama4")
    assert (get_model().name, get_model(default="gpt-4").name) == ("ollama/llama4", "ollama/llama4")
    assert get_model("gpt-4o").name == "openai/gpt-4o"
    ours = get_model("gpt-4o")
    assert get_model(ours) is ours
    assert isinstance(ours, Model)


def test_custom_headers_and_addresses(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    model = get_model("gpt-4o", base_url=server.url, api_key="ours", headers={"X-Team": "a"})
    assert ask_sync(model, "hello").text
    headers = server.requests[0].headers
    assert (headers["authorization"], headers["x-team"]) == ("Bearer ours", "a")


def test_automatic_tool_calls(server: OpenAIServer) -> None:
    server.answers("weather", ToolCall("weather", {"city": "Oslo"}))
    assert get_model("gpt-4o").generate("weather").text == '{"city": "Oslo"}'


def test_every_error_is_a_model_error() -> None:
    kinds = (ContentFiltered, MalformedAnswer, MissingKey, ModelGone, RateLimited, RefusedRequest, RefusedSchema)
    assert all(issubclass(kind, ModelError) for kind in kinds)
