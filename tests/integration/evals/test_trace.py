"""The parameter `trace` of scorers: the calls of models and the spans of a task."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI, OpenAI
from tests.fakes.openai import OpenAIServer, ToolCall

from scoregate import evaluate
from scoregate.evals import TaskTrace
from scoregate.kernel.types.usage import METER
from scoregate.models import get_model, wrap
from scoregate.offline_tests import observe


def user(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


class Seen(list[TaskTrace]):
    """A scorer that keeps the traces it gets."""

    def __call__(self, trace: TaskTrace) -> bool:
        self.append(trace)
        return True


def run(task: Any, data: Any = ("Open?",), **options: Any) -> tuple[Seen, Any]:
    seen = Seen()
    result = evaluate("demo", data=data, task=task, scorers=[seen.__call__], **options)
    assert [error.message for error in result.errors] == []
    return seen, result


def test_calls_have_messages_answer_tokens_cost_and_duration(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCOREGATE_PRICES", json.dumps({"gpt-4o": {"input": 1000.0, "output": 1000.0}}))
    server.answers("Open", "At nine.")
    server.answers("tool", ToolCall("find", {"day": 1}))

    def task(question: str) -> str:
        client = wrap(OpenAI())
        messages = user(question)
        answer = client.chat.completions.create(model="gpt-4o", messages=messages).choices[0].message.content
        messages.append({"role": "user", "content": "tool"})
        client.chat.completions.create(model="gpt-4o", messages=messages)
        return str(answer)

    (trace,), result = run(task)
    first, second = trace.calls
    assert (first.model, first.provider, first.messages, first.text) == (
        "gpt-4o",
        "openai",
        tuple(user("Open?")),
        "At nine.",
    )
    assert first.request["messages"] == user("Open?"), "as it was sent, and not as the list is now"
    assert (first.error, first.cached, first.duration_s > 0) == (None, False, True)
    assert [call["name"] for call in second.tool_calls] == ["find"]
    usage = result.cases[0].usage
    assert (trace.input_tokens, trace.output_tokens) == (usage.input_tokens, usage.output_tokens)
    assert trace.cost == pytest.approx(usage.cost)
    assert trace.errors == ()
    assert trace.spans[0].name == "invoke_agent demo"


def test_concurrent_cases_have_separate_traces(server: OpenAIServer) -> None:
    async def ask(question: str) -> str:
        answers = [await AsyncModel.create(question) for _ in range(2)]
        return answers[0]

    class AsyncModel:
        @staticmethod
        async def create(question: str) -> str:
            client = wrap(AsyncOpenAI())
            await asyncio.sleep(0.01)
            answer = await client.chat.completions.create(model="gpt-4o", messages=user(question))
            return str(answer.choices[0].message.content)

    questions = [f"question {number}" for number in range(8)]
    seen, _ = run(ask, questions)
    assert sorted(trace.calls[0].messages[0]["content"] for trace in seen) == questions
    assert all(len({call.messages[0]["content"] for call in trace.calls}) == 1 for trace in seen)
    assert [len(trace.calls) for trace in seen] == [2] * 8
    assert len(server.asked()) == 16


def test_cached_answers_errors_and_streams(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SCOREGATE_CACHE", "on")
    monkeypatch.chdir(tmp_path)
    server.models = ["gpt-4o"]

    def task() -> str:
        client = wrap(OpenAI())
        client.chat.completions.create(model="gpt-4o", messages=user("a"))
        try:
            client.chat.completions.create(model="gone", messages=user("a"))
        except Exception as error:
            return type(error).__name__
        return ""

    for cached in (False, True):
        (trace,), _ = run(task)
        assert [call.cached for call in trace.calls] == [cached, False]
        assert trace.calls[1].error is not None
        assert trace.calls[1].error.startswith("NotFoundError: ")
        assert trace.errors == (trace.calls[1].error,)

    def stream() -> str:
        chunks = wrap(OpenAI()).chat.completions.create(model="gpt-4o", messages=user("a"), stream=True)
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)

    (trace,), result = run(stream)
    (call,) = trace.calls
    assert (call.text, call.response, call.request["stream"]) == ("", {}, True)
    usage = result.cases[0].usage
    assert 0 < call.input_tokens == usage.input_tokens
    assert (call.output_tokens, call.cost) == (usage.output_tokens, usage.cost)


def test_models_of_scoregate_and_embeddings_are_calls(server: OpenAIServer) -> None:
    def task() -> str:
        wrap(OpenAI()).embeddings.create(model="vectors", input=["a"])
        return get_model("gpt-4o").generate("Open?").text

    (trace,), _ = run(task)
    assert [(call.model, len(call.messages)) for call in trace.calls] == [("vectors", 0), ("gpt-4o", 1)]
    assert trace.calls[0].request["input"] == ["a"]
    assert len(server.asked()) == 2


def test_spans_have_the_steps_of_the_task() -> None:
    @observe(span_type="tool")
    def look_up(day: str) -> str:
        return f"{day}: nine"

    async def task(input: str) -> str:  # noqa: A002
        return look_up(input)

    (trace,), _ = run(task, ["Monday"])
    first, step = trace.spans
    assert (step.name, step.parent_id, step.error) == ("execute_tool look_up", first.span_id, None)
    assert step.attributes["output"] == "Monday: nine"
    assert (trace.calls, trace.cost, trace.errors) == ((), 0, ())


def test_a_retry_has_its_own_trace(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoregate.engine.run.retry_delay_s", lambda _: 0.0)
    attempts: list[int] = []

    def task() -> str:
        attempts.append(1)
        answer = get_model("gpt-4o").generate(f"attempt {len(attempts)}").text
        if len(attempts) == 1:
            raise TimeoutError
        return answer

    (trace,), _ = run(task, retries=1)
    assert [call.messages[0]["content"] for call in trace.calls] == ["attempt 2"]
    from scoregate.offline_tests.spans import SPAN_COLLECTOR

    assert SPAN_COLLECTOR._open == {}, "the trace of the first attempt is dropped"
    assert len(server.asked()) == 2


def test_without_a_trace_scorer_nothing_is_kept(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "scoregate.evals.tracing", None)
    recorded: list[Any] = []

    def task() -> str:
        text = get_model("gpt-4o").generate("Open?").text
        recorded.append(METER.get().calls)  # type: ignore[union-attr]
        return text

    result = evaluate("demo", data=["a"], task=task, scorers=[lambda output: True, lambda **values: len(values) > 0])  # noqa: ARG005
    assert (result.passed, recorded) == (True, [None])
    assert len(server.asked()) == 1


def test_without_opentelemetry_there_are_calls_and_no_spans(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.trace", None)
    (trace,), _ = run(lambda: get_model("gpt-4o").generate("Open?").text)
    assert (len(trace.calls), trace.spans) == (1, ())
    assert len(server.asked()) == 1
