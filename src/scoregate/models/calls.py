"""Calls of a model: how to send a question, the response, the answer, and how to wait."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import Any, TypeAlias, TypeVar

import anyio
from pydantic_core import from_json

from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.json_io import list_texts
from scoregate.kernel.types.task_trace import ModelCall
from scoregate.kernel.types.usage import REQUEST_LOG, UsageMeter


@dataclass(frozen=True, slots=True)
class ModelResponse:
    """A response: its headers, its body (None for a stream), and the value that the client returns for it."""

    headers: Mapping[str, str]
    body: bytes | None
    value: Any = None


@dataclass(frozen=True, slots=True)
class Call:
    """A question, and how to send it.

    Args:
        provider: the name of the provider.
        address: the base URL.
        path: the path of the API, such as "/chat/completions".
        question: the parameters that determine the answer, including `model`; the cache key is made of them.
        send: sends the question once; returns a `ModelResponse` or an awaitable of one.
        prepare: imports what `send` needs, which can take seconds, before the call gets a permit.
        adapt: gets a final failure; returns True if it changed the request and an immediate retry may succeed.
        is_cacheable: whether an answer may be stored; an answer with an error may not. None stores nothing.
    """

    provider: str
    address: str
    path: str
    question: Mapping[str, Any]
    send: Callable[[], Any]
    prepare: Callable[[], object] = lambda: None
    adapt: Callable[[BaseException], bool] = lambda _error: False
    is_cacheable: Callable[[Mapping[str, Any]], bool] | None = lambda _body: True

    @property
    def model(self) -> str:
        """The name of the model in the request."""
        return str(self.question.get("model", ""))


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer.

    Attributes:
        body: the body; None for a stream.
        usage: the usage; None if the server reported none, or will report it at the end of a stream.
        response: the response; None if the answer was read from the cache.
        recorded: the call in the trace of its case; None if no scorer asks for it.
    """

    body: bytes | None
    usage: Usage | None
    response: ModelResponse | None = None
    recorded: ModelCall | None = None

    @property
    def data(self) -> Mapping[str, Any]:
        """The body as a JSON object; empty if it is none."""
        return {} if self.body is None else parse_object(self.body)


def parse_object(body: bytes) -> Mapping[str, Any]:
    """Parse a body as a JSON object; empty if it is none."""
    try:
        data = from_json(body)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


T = TypeVar("T")
Steps: TypeAlias = Generator[Callable[[], Any], Any, T]


@dataclass(frozen=True, slots=True)
class Mode:
    """How a caller waits: for a number of seconds, and for a future that another thread may set."""

    is_async: bool
    sleep: Callable[[float], Any]
    wait: Callable[[Future[Any]], Any]


SYNC = Mode(False, time.sleep, lambda future: future.result())
ASYNC = Mode(True, anyio.sleep, asyncio.wrap_future)


def run_steps(steps: Steps[T]) -> T:
    """Run the steps in this thread."""
    try:
        step = next(steps)
        while True:
            try:
                result = step()
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as stop:
        value: T = stop.value
        return value


async def run_steps_async(steps: Steps[T]) -> T:
    """Run the steps in the running event loop."""
    try:
        step = next(steps)
        while True:
            try:
                result = step()
                if isawaitable(result):
                    result = await result
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as stop:
        value: T = stop.value
        return value


_MOST_CALLS = 10_000
_LONGEST_ERROR = 4_000


def record_call(
    meter: UsageMeter, call: Call, started: float, answer: Answer | None = None, *, error: BaseException | None = None
) -> ModelCall | None:
    """Add a call to the trace of its case; nothing happens if no scorer asks for it, or after 10,000 calls.

    Args:
        meter: the meter of the case.
        call: the call.
        started: the value of `time.perf_counter` when it started.
        answer: the answer; None after an error.
        error: the exception; None after an answer.

    Returns:
        The call that was added; None if none was.
    """
    calls = meter.calls
    if calls is None or len(calls) >= _MOST_CALLS:
        return None
    # Agents extend one list of messages from call to call.
    request = {name: list(value) if isinstance(value, list | tuple) else value for name, value in call.question.items()}
    usage = (answer.usage if answer is not None else None) or Usage()
    recorded = ModelCall(
        call.model,
        call.provider,
        _read_messages(request),
        request,
        {} if answer is None else answer.data,
        usage.input_tokens,
        usage.output_tokens,
        usage.cost,
        time.perf_counter() - started,
        usage.cached,
        None if error is None else f"{type(error).__name__}: {error}"[:_LONGEST_ERROR],
    )
    calls.append(recorded)
    return recorded


def record_stream_usage(meter: UsageMeter, recorded: ModelCall, usage: Usage) -> None:
    """Add the usage at the end of a stream to its call in the trace."""
    calls = meter.calls or []
    for place, call in enumerate(calls):
        if call is recorded:
            read, written = usage.input_tokens, usage.output_tokens
            calls[place] = replace(call, input_tokens=read, output_tokens=written, cost=usage.cost)


def _read_messages(request: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    messages = request.get("messages")
    return tuple(each for each in messages if isinstance(each, Mapping)) if isinstance(messages, list) else ()


_MOST_LOGGED_BYTES = 64 << 20
_PROMPTS = ("messages", "input", "instructions", "system", "prompt", "tools")


def log_request(meter: UsageMeter, question: Mapping[str, Any]) -> None:
    """Add the texts of a request to the log, if the host asks for one; requests of evaluators are left out.

    Args:
        meter: says which case the request is for.
        question: the parameters of the request.
    """
    path = os.environ.get(REQUEST_LOG)
    if not path or meter.evaluator:
        return
    texts = [text for name in _PROMPTS for text in list_texts(question.get(name))]
    line = json.dumps({"case": meter.case, "texts": texts}).encode() + b"\n"
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o660)
    try:
        if os.fstat(handle).st_size < _MOST_LOGGED_BYTES:
            os.write(handle, line)  # one write, so that lines of several processes don't mix
    finally:
        os.close(handle)
