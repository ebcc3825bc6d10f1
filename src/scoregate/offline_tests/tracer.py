"""Record an agent's calls as traces, with OpenTelemetry if it is installed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from time import time_ns
from typing import TYPE_CHECKING, Any, TypeVar

from scoregate.engine.calls import is_async
from scoregate.engine.errors import make_error_info
from scoregate.errors import MissingExtra
from scoregate.kernel.types.json_io import dump, dump_plain
from scoregate.kernel.types.trace import CALL_ARGUMENTS, Span, Trace

if TYPE_CHECKING:
    from scoregate.offline_tests.spans import SpanCollector

F = TypeVar("F", bound=Callable[..., Any])
_LONGEST_TEXT = 32_000
# The operations of OpenTelemetry's conventions for generative AI, and the attributes for their names.
_OPERATIONS = {
    "agent": ("invoke_agent", "gen_ai.agent.name"),
    "tool": ("execute_tool", "gen_ai.tool.name"),
    "llm": ("chat", "gen_ai.request.model"),
}


_observed_types: set[str] = set()


def observes_tools() -> bool:
    """Whether a function of this process is observed as a tool, so that a call of it would be recorded."""
    return "tool" in _observed_types


class OfflineTracer:
    """Records calls as traces; calls that run at the same time have separate traces.

    It attaches to the tracer provider of the process. If there is none at the first recording, it sets one, because
    libraries look there. OpenTelemetry allows only one, so a program with its own provider must set it before.

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
        from scoregate.offline_tests.spans import SPAN_COLLECTOR

        self._collector = SPAN_COLLECTOR

    def begin(self, name: str, inputs: Any = None) -> Recording:
        """Start the trace of a call of an agent with this name; `Recording.end` ends it."""
        return Recording(self._collector, name, inputs)

    @contextmanager
    def recording(self, name: str, inputs: Any = None) -> Iterator[Recording]:
        """Record a block. An exception is recorded and raised."""
        recording = self.begin(name, inputs)
        try:
            with recording.active():
                yield recording
        finally:
            recording.end()


class Recording:
    """The recording of one call of an agent. `trace` is None until the call has ended."""

    __slots__ = ("_agent", "_collector", "_context", "_ended", "_error", "_inputs", "_output", "_started", "_trace")

    def __init__(self, collector: SpanCollector, agent: str, inputs: Any = None) -> None:
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
        """The trace, built on first access; None until the call has ended."""
        if self._trace is None and self._ended is not None:
            spans = (self._first_span(self._ended), *self._collector.take(self._context))
            self._trace = Trace(self.trace_id, tuple(sorted(spans, key=lambda span: span.start_ns)))
        return self._trace

    def active(self) -> AbstractContextManager[None]:
        """A block whose spans and exception belong to this recording, in this task or thread."""
        return _ActiveRecording(self, self._collector, self._context)

    def fail(self, error: BaseException) -> None:
        """Record an exception."""
        self._error = error

    def end(self, output: Any = None) -> None:
        """Record the output and the end of the call."""
        self._output, self._ended = output, time_ns()

    def _first_span(self, ended: int) -> Span:
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": self._agent}
        for name, role, content in (("input", "user", self._inputs), ("output", "assistant", self._output)):
            if content is not None:
                message = {"role": role, "parts": [{"type": "text", "content": _to_text(content)}]}
                attributes[f"gen_ai.{name}.messages"] = dump([message]).decode()
        error = None if self._error is None else f"{type(self._error).__name__}: {make_error_info(self._error).message}"
        return Span(
            f"{self._context.span_id:016x}",
            f"invoke_agent {self._agent}",
            start_ns=self._started,
            end_ns=ended,
            attributes=attributes,
            error=error,
        )


class _ActiveRecording(AbstractContextManager[None]):
    """The context of `Recording.active`. It is a class because a generator would take three times as long."""

    __slots__ = ("_collector", "_context", "_recording", "_token")

    def __init__(self, recording: Recording, collector: SpanCollector, context: Any) -> None:
        self._recording, self._collector, self._context = recording, collector, context

    def __enter__(self) -> None:
        self._token = self._collector.enter(self._context)

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        self._collector.leave(self._token)
        if error is not None:
            self._recording.fail(error)


def observe(function: F | None = None, *, span_type: str = "span", name: str | None = None) -> Any:
    """Make every call of a function, sync or async, a span of the current recording.

    Args:
        function: the function, if `observe` is used without parentheses.
        span_type: "agent", "tool", "llm", or a term of your own.
        name: the name of the span; the function's if not given.
    """
    if function is None:
        return functools.partial(observe, span_type=span_type, name=name)
    _observed_types.add(span_type)
    span_name = name or str(getattr(function, "__name__", type(function).__name__))

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with _open_span(span_name, span_type, function, args, kwargs) as set_output:
            return set_output(function(*args, **kwargs))

    @functools.wraps(function)
    async def call_async(*args: Any, **kwargs: Any) -> Any:
        with _open_span(span_name, span_type, function, args, kwargs) as set_output:
            awaitable: Awaitable[Any] = function(*args, **kwargs)
            return set_output(await awaitable)

    return call_async if is_async(function) else call


@contextmanager
def _open_span(
    name: str, span_type: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
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
        inputs = {**({"args": list(args)} if args else {}), **kwargs}
        span.set_attributes({"gen_ai.operation.name": operation, attribute: name, "input": _to_text(inputs)})
        if span_type == "tool":
            span.set_attribute(CALL_ARGUMENTS, _to_text(_name_arguments(function, args, kwargs)))

        def set_output(output: Any) -> Any:
            span.set_attribute("output", _to_text(output))
            return output

        yield set_output


def _name_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The arguments of a call by the names of the parameters."""
    try:
        return inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # wrong arguments, or a function in C without a signature
        return {**({"args": list(args)} if args else {}), **kwargs}


def _to_text(value: Any) -> str:
    try:
        text = value if isinstance(value, str) else dump_plain(value).decode()
    except Exception as error:  # a foreign object that can't be written
        text = f"<{type(value).__name__}: {type(error).__name__}>"
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
