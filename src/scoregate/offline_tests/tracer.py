"""Recording what an agent does, through OpenTelemetry where it is installed."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from time import time_ns
from typing import TYPE_CHECKING, Any, TypeVar

from scoregate.core.trace import Span, Trace
from scoregate.core.wire import dump, dump_plain
from scoregate.engine.call import is_async
from scoregate.engine.errors import error_info
from scoregate.errors import MissingExtra

if TYPE_CHECKING:
    from scoregate.offline_tests.collecting import Collector

F = TypeVar("F", bound=Callable[..., Any])
_LONGEST = 32_000
# The operations of OpenTelemetry's conventions for generative AI, and what their names are attributes of.
_OPERATIONS = {
    "agent": ("invoke_agent", "gen_ai.agent.name"),
    "tool": ("execute_tool", "gen_ai.tool.name"),
    "llm": ("chat", "gen_ai.request.model"),
}


class Recording:
    """One call of an agent that is being recorded. `trace` is there once it has ended."""

    __slots__ = ("_agent", "_collector", "_context", "_ended", "_error", "_inputs", "_output", "_started", "_trace")

    def __init__(self, collector: Collector, agent: str, inputs: Any = None) -> None:
        self._collector = collector
        self._trace: Trace | None = None
        self._output: Any = None
        self._ended: int | None = None
        self._agent, self._inputs = agent, inputs
        self._error: BaseException | None = None
        self._context = collector.begin()
        self._started = time_ns()

    @property
    def trace_id(self) -> str:
        """32 hexadecimal digits."""
        return f"{self._context.trace_id:032x}"

    @property
    def trace(self) -> Trace | None:
        """What was recorded, put together when it is first asked for; None until the call has ended."""
        if self._trace is None and self._ended is not None:
            spans = (self._first(self._ended), *self._collector.take(self._context))
            self._trace = Trace(self.trace_id, tuple(sorted(spans, key=lambda span: span.start_ns)))
        return self._trace

    def active(self) -> AbstractContextManager[None]:
        """Spans that begin in this block, in this task or thread, belong to it; so does what the block raises."""
        return _Active(self, self._collector, self._context)

    def fail(self, error: BaseException) -> None:
        """Say what was raised."""
        self._error = error

    def end(self, output: Any = None) -> None:
        """Say what came out."""
        self._output, self._ended = output, time_ns()

    def _first(self, ended: int) -> Span:
        messages = {"input": ("user", self._inputs), "output": ("assistant", self._output)}
        told = {
            f"gen_ai.{n}.messages": _message(role, said) for n, (role, said) in messages.items() if said is not None
        }
        failed = None if self._error is None else f"{type(self._error).__name__}: {error_info(self._error).message}"
        return Span(
            f"{self._context.span_id:016x}",
            f"invoke_agent {self._agent}",
            start_ns=self._started,
            end_ns=ended,
            attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": self._agent, **told},
            error=failed,
        )


class _Active(AbstractContextManager[None]):
    """A class, since every call of an agent goes through it: a generator takes three times as long."""

    __slots__ = ("_collector", "_context", "_recording", "_token")

    def __init__(self, recording: Recording, collector: Collector, context: Any) -> None:
        self._recording, self._collector, self._context = recording, collector, context

    def __enter__(self) -> None:
        self._token = self._collector.enter(self._context)

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        self._collector.leave(self._token)
        if error is not None:
            self._recording.fail(error)


class OfflineTracer:
    """Records calls as traces, each apart from all others that run at the same time.

    It listens to the tracer provider of the process, beside whatever else does. A process that has none when the first
    call is recorded gets one, since that is where libraries look; OpenTelemetry takes no other after that, so a program
    that sets one of its own does so before.

    Raises:
        MissingExtra: opentelemetry-sdk is not installed.
    """

    def __init__(self) -> None:
        try:
            import opentelemetry.sdk.trace  # noqa: F401
        except ImportError:
            raise MissingExtra(
                "traces need the package opentelemetry-sdk, which is not installed",
                advice="Run: pip install 'scoregate[traces]'",
            ) from None
        from scoregate.offline_tests.collecting import COLLECTOR

        self._collector = COLLECTOR

    def begin(self, name: str, inputs: Any = None) -> Recording:
        """Begin the trace of a call of an agent of this name; `end` of the recording ends it."""
        return Recording(self._collector, name, inputs)

    @contextmanager
    def recording(self, name: str, inputs: Any = None) -> Iterator[Recording]:
        """Record what the block does; an exception ends up in the trace, and goes on."""
        recording = self.begin(name, inputs)
        try:
            with recording.active():
                yield recording
        finally:
            recording.end()


def observe(function: F | None = None, *, span_type: str = "span", name: str | None = None) -> Any:
    """Make every call of a function, sync or async, a span of the trace that is being recorded around it.

    Args:
        span_type: "agent", "tool", "llm", or a word of yours. name: of the span; the function's if not given.
    """
    if function is None:
        return functools.partial(observe, span_type=span_type, name=name)
    called = name or str(getattr(function, "__name__", type(function).__name__))
    if is_async(function):
        return functools.wraps(function)(_observed_async(function, called, span_type))
    return functools.wraps(function)(_observed(function, called, span_type))


def _observed(function: Callable[..., Any], name: str, span_type: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        with _span(name, span_type, args, kwargs=kwargs) as told:
            return told(function(*args, **kwargs))

    return call


def _observed_async(
    function: Callable[..., Awaitable[Any]], name: str, span_type: str
) -> Callable[..., Awaitable[Any]]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        with _span(name, span_type, args, kwargs=kwargs) as told:
            return told(await function(*args, **kwargs))

    return call


@contextmanager
def _span(
    name: str, span_type: str, args: tuple[Any, ...], *, kwargs: dict[str, Any]
) -> Iterator[Callable[[Any], Any]]:
    try:
        from opentelemetry import trace as api
    except ImportError:
        yield lambda output: output
        return
    operation, attribute = _OPERATIONS.get(span_type, (span_type, "scoregate.name"))
    with api.get_tracer("scoregate").start_as_current_span(f"{operation} {name}") as span:
        if not span.is_recording():
            yield lambda output: output
            return
        given = {**({"args": list(args)} if args else {}), **kwargs}
        span.set_attributes({"gen_ai.operation.name": operation, attribute: name, "input": _text(given)})

        def told(output: Any) -> Any:
            span.set_attribute("output", _text(output))
            return output

        yield told


def _message(role: str, content: Any) -> str:
    return dump([{"role": role, "parts": [{"type": "text", "content": _text(content)}]}]).decode()


def _text(value: Any) -> str:
    try:
        text = value if isinstance(value, str) else dump_plain(value).decode()
    except Exception as error:  # a foreign object that cannot be written
        text = f"<{type(value).__name__}: {type(error).__name__}>"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
