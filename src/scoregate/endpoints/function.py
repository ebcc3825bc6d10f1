"""Endpoints that are Python functions, imported by name and called with the arguments that they declare."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio

from scoregate.endpoints.context import EndpointContext
from scoregate.endpoints.fillers import NAMES, RequestValues
from scoregate.endpoints.request import compile_request
from scoregate.endpoints.response import EndpointResponse, compile_fields, to_reply
from scoregate.endpoints.retry import ConcurrencyLimit, RequestPacer
from scoregate.endpoints.target import PerLoop, SendMessage
from scoregate.engine.calls import Caller
from scoregate.engine.errors import EXIT_EXCEPTIONS
from scoregate.engine.imports import import_target
from scoregate.engine.signatures import read_parameters
from scoregate.kernel.types.conversation import Reply
from scoregate.store.endpoints import StoredEndpoint

_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class FunctionTransport:
    """Transport that calls a function.

    Raises:
        EndpointError: there is no such function, or it has an unknown parameter.
    """

    def __init__(self, definition: StoredEndpoint, endpoint: EndpointContext) -> None:
        self.endpoint = endpoint
        self._function = load_function(definition.function, endpoint)
        self._out = compile_request(definition, endpoint)
        self.system_prompt = self._out.system_prompt
        self._fields = compile_fields(definition.response_mapping, endpoint)
        if definition.request_mapping is None:
            self._fill = make_argument_mapper(self._function, endpoint)
        else:
            self._fill = lambda context: partial(self._function, **dict(self._out.fill(self._out.body, context)))
        self._pace = RequestPacer(definition.requests_per_minute)
        self._opening = PerLoop(partial(_Workers, definition, self._pace))

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[SendMessage]:
        """Prepare the workers for one conversation."""
        async with self._opening.use() as workers:
            yield partial(self._ask, workers)

    async def _ask(self, workers: _Workers, context: RequestValues) -> tuple[Reply, Any]:
        async with workers.slots.turn():
            value = await self._call(workers, self._fill(context))
        plain = value if isinstance(value, dict) else {"output": value}
        fields = self._fields if isinstance(value, dict) else compile_fields(None, self.endpoint)
        return to_reply(EndpointResponse(f"{value!r:.400}", plain), fields, self.endpoint)

    async def _call(self, workers: _Workers, call: Callable[..., Any]) -> Any:
        try:
            return await workers.call(call)
        except TimeoutError as error:
            raise self.endpoint.fail(f"{error}", kind="timeout", advice="timeout_seconds allows more.") from error
        except EXIT_EXCEPTIONS:
            raise
        except BaseException as error:  # user code may raise anything
            raise self.endpoint.fail(f"raised {type(error).__name__}: {error!s:.1000}") from error


class _Workers:
    """Calls the function in one event loop; in worker threads if it is not async."""

    def __init__(self, definition: StoredEndpoint, pace: RequestPacer) -> None:
        self.slots = ConcurrencyLimit(definition.max_concurrency, pace)
        self._threads = anyio.CapacityLimiter(definition.max_concurrency)
        self._timeout_s = definition.timeout_seconds

    async def call(self, function: Callable[..., Any]) -> Any:
        """The result of a function with bound arguments."""
        return await Caller(function, self._threads, timeout_s=self._timeout_s)()

    async def aclose(self) -> None:
        """Nothing to close."""


def load_function(name: str, endpoint: EndpointContext) -> Callable[..., Any]:
    """The function at "module:function"; its name may have dots.

    Raises:
        EndpointError: there is none.
    """
    try:
        value = import_target(name)
    except (Exception, SystemExit) as error:  # what a module does when it is imported may be anything
        problem = f"the function {name!r:.200} cannot be imported: {type(error).__name__}: {error!s:.500}"
        advice = "Write module:function, such as my_bot.main:answer. Is the folder of the module on PYTHONPATH?"
        raise endpoint.fail(problem, kind="configuration_error", advice=advice) from error
    if not callable(value):
        endpoint.misconfigured(f"{name:.200} is not a function, but a {type(value).__name__}")
    function: Callable[..., Any] = value
    return function


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return read_parameters(function)
    except ValueError:  # some C functions have no signature
        return [inspect.Parameter("message", inspect.Parameter.POSITIONAL_ONLY)]


def make_argument_mapper(
    function: Callable[..., Any], endpoint: EndpointContext
) -> Callable[[RequestValues], Callable[..., Any]]:
    """A function that binds arguments: known names by name, and the message to the first other parameter.

    Raises:
        EndpointError: it needs another argument.
    """
    parameters = _parameters(function)
    named = [each.name for each in parameters if each.name in NAMES and each.kind is not each.VAR_POSITIONAL]
    others = [each for each in parameters if each.name not in NAMES]
    takes_message = "input" not in named and bool(others) and others[0].kind in _POSITIONAL
    needed = [each for each in others[takes_message:] if each.default is each.empty and each.kind not in _VARIABLE]
    if needed:
        endpoint.misconfigured(
            f"the function asks for {', '.join(each.name for each in needed):.200}, which does not exist",
            f"A function gets the message and, by name, {', '.join(sorted(NAMES))}.",
        )
    message = others[0].name if takes_message else None

    def bind(context: RequestValues) -> Callable[..., Any]:
        arguments = {name: context[name] for name in named} | ({message: context["input"]} if message else {})
        # They can't be passed by name.
        first = [each.name for each in parameters if each.kind is each.POSITIONAL_ONLY and each.name in arguments]
        positional = [arguments.pop(name) for name in first]
        return partial(function, *positional, **arguments)

    return bind
