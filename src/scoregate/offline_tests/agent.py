"""Call an agent: its parameters get the fields of an example, by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from scoregate.datasets import Example
from scoregate.engine.calls import is_async
from scoregate.engine.errors import EXIT_EXCEPTIONS, make_error_info
from scoregate.engine.signatures import read_parameters
from scoregate.engine.trial import set_partial_output
from scoregate.offline_tests.results import AgentFunction
from scoregate.offline_tests.rows import Attempt
from scoregate.offline_tests.tracer import OfflineTracer

_KEYWORD_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True)
class ArgumentMapping:
    """The field that each parameter of an agent gets.

    Attributes:
        agent: the agent's name.
        fields: the fields by parameter.
        required: the fields that an example must have.
        takes_rest: whether the agent has `**kwargs` for the other fields.
    """

    agent: str
    fields: Mapping[str, str]
    required: frozenset[str]
    takes_rest: bool

    def check(self, examples: Iterable[Mapping[str, Any]]) -> None:
        """Check every example.

        Raises:
            TypeError: an example lacks a field that the agent needs.
        """
        for fields in examples:
            if missing := sorted(self.required - fields.keys()):
                raise TypeError(
                    f"Agent entrypoint {self.agent}() requires example field(s) {missing} that are not present in the"
                    " example data (check the dataset schema or pass a field_mapping)."
                )

    def arguments(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the agent."""
        given = {parameter: fields[field] for parameter, field in self.fields.items() if field in fields}
        if self.takes_rest:
            names = {*self.fields, *self.fields.values()}
            given |= {name: value for name, value in fields.items() if name not in names}
        return given


def map_arguments(agent: Callable[..., Any], field_mapping: Mapping[str, str] | None = None) -> ArgumentMapping:
    """The arguments of an agent: a parameter gets the field that it is mapped to, else the field with its name.

    Args:
        agent: the agent.
        field_mapping: fields by parameter.

    Raises:
        TypeError: the agent is not a callable or takes no keywords, or the mapping is not a dict of strings.
    """
    name, mapping = agent_name(agent), {} if field_mapping is None else field_mapping
    if not isinstance(mapping, Mapping) or not all(isinstance(each, str) for pair in mapping.items() for each in pair):
        raise TypeError(f"field_mapping must be a dict from parameters to fields, not {field_mapping!r:.100}")
    if not callable(agent):
        raise TypeError(f"agent_function must be callable, not {agent!r:.100}")
    try:
        parameters = read_parameters(agent)
    except ValueError:
        raise TypeError(f"Agent entrypoint {name}() has no readable signature; wrap it in a function.") from None
    positional = [each for each in parameters if each.kind is each.POSITIONAL_ONLY and each.default is each.empty]
    if unreachable := [each.name for each in positional]:
        raise TypeError(
            f"Agent entrypoint {name}() requires {unreachable} by position, and fields are given by name only."
        )
    by_name = [each for each in parameters if each.kind in _KEYWORD_KINDS]
    fields = {each.name: mapping.get(each.name, each.name) for each in by_name}
    required = frozenset(fields[each.name] for each in by_name if each.default is each.empty)
    return ArgumentMapping(name, fields, required, any(each.kind is each.VAR_KEYWORD for each in parameters))


def agent_name(agent: Any) -> str:
    """The name of an agent: of the function, of the function in a partial, or of the class of an object."""
    while isinstance(agent, functools.partial):
        agent = agent.func
    return str(getattr(agent, "__name__", type(agent).__name__))


@dataclass(frozen=True, slots=True)
class AgentTask:
    """Calls an agent.

    Attributes:
        agent: the agent.
        arguments: its arguments.
        begin: starts the attempt for an example.
        failed: called with the attempt after an exception.
        tracer: records the calls; None if traces are not possible.
    """

    agent: AgentFunction
    arguments: ArgumentMapping
    begin: Callable[[Example], Attempt]
    failed: Callable[[Attempt], None]
    tracer: OfflineTracer | None = None

    @property
    def task(self) -> Callable[[Example], Any]:
        """The task for the engine; async if the agent is."""
        return self._call_async if is_async(self.agent) else self._call

    def _call(self, example: Example) -> Any:
        attempt = self._begin(example)
        with self._watch(attempt):
            output = self._run_agent(attempt)
        return self._finish_later(attempt, output) if inspect.isawaitable(output) else _set_output(attempt, output)

    async def _call_async(self, example: Example) -> Attempt:
        attempt = self._begin(example)
        with self._watch(attempt):
            output = self._run_agent(attempt)
        return await self._finish_later(attempt, output)

    async def _finish_later(self, attempt: Attempt, output: Awaitable[Any]) -> Attempt:
        with self._watch(attempt):
            result = await output
        return _set_output(attempt, result)

    def _begin(self, example: Example) -> Attempt:
        set_partial_output(attempt := self.begin(example))
        if self.tracer is not None:
            attempt.recording = self.tracer.begin(self.arguments.agent, example.properties)
        return attempt

    def _run_agent(self, attempt: Attempt) -> Any:
        return self.agent(**self.arguments.arguments(attempt.example.properties))

    def _watch(self, attempt: Attempt) -> _AttemptContext:
        return _AttemptContext(attempt, self.failed, attempt.recording.active() if attempt.recording else None)


@dataclass(slots=True)
class _AttemptContext(AbstractContextManager[None]):
    """A block that belongs to the attempt's trace; an exception ends both."""

    attempt: Attempt
    failed: Callable[[Attempt], None]
    recording: AbstractContextManager[None] | None

    def __enter__(self) -> None:
        if self.recording is not None:
            self.recording.__enter__()

    def __exit__(self, kind: Any, error: BaseException | None, where: Any) -> None:
        if self.recording is not None:
            self.recording.__exit__(kind, error, where)
        if error is None:
            return
        self.attempt.end_recording()
        if not isinstance(error, EXIT_EXCEPTIONS):
            self.attempt.error = error_text(error)
            self.failed(self.attempt)


def _set_output(attempt: Attempt, output: Any) -> Attempt:
    attempt.output, attempt.has_output = output, True
    attempt.end_recording(output)
    return attempt


def error_text(error: BaseException) -> str:
    """The type and the message of an error."""
    info = make_error_info(error)
    return f"{info.type}: {info.message}"
