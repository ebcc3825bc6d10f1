"""Endpoints that are Python functions: found by name, called with what their parameters ask for."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio

from scoregate.core.target import Reply
from scoregate.endpoints.answers import Answer
from scoregate.endpoints.names import NAMES, Context
from scoregate.endpoints.opening import Opening
from scoregate.endpoints.pace import Pace, Slots
from scoregate.endpoints.replies import reply_of
from scoregate.endpoints.request_mapping import outgoing_of
from scoregate.endpoints.response_mapping import fields_of
from scoregate.endpoints.surroundings import Surroundings
from scoregate.endpoints.target import Ask
from scoregate.engine.call import Caller
from scoregate.engine.errors import ENDINGS
from scoregate.engine.signatures import parameters_of
from scoregate.engine.targets import target
from scoregate.store.endpoints import StoredEndpoint

_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Function:
    """As `target.Wire` has it.

    Raises:
        EndpointError: there is no such function, or it asks for something that there is not.
    """

    def __init__(self, definition: StoredEndpoint, place: Surroundings) -> None:
        self.place = place
        self._function = found(definition.function, place)
        self._out = outgoing_of(definition, place)
        self.system_prompt = self._out.system_prompt
        self._fields = fields_of(definition.response_mapping, place)
        self._fill = self._mapped if definition.request_mapping is not None else filler(self._function, place)
        self._pace = Pace(definition.requests_per_minute)
        self._opening = Opening(partial(_Workers, definition, self._pace))

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Ask]:
        """As `Wire.connected`."""
        async with self._opening.held() as workers:
            yield partial(self._ask, workers)

    async def _ask(self, workers: _Workers, context: Context) -> tuple[Reply, Any]:
        async with workers.slots.turn():
            value = await self._called(workers, self._fill(context))
        plain = value if isinstance(value, dict) else {"output": value}
        fields = self._fields if isinstance(value, dict) else fields_of(None, self.place)
        return reply_of(Answer(f"{value!r:.400}", plain), fields, self.place)

    async def _called(self, workers: _Workers, call: Callable[..., Any]) -> Any:
        try:
            return await workers.call(call)
        except TimeoutError as error:
            raise self.place.fail(f"{error}", kind="timeout", advice="timeout_seconds allows more.") from error
        except ENDINGS:
            raise
        except BaseException as error:  # the user's code may raise anything
            raise self.place.fail(f"raised {type(error).__name__}: {error!s:.1000}") from error

    def _mapped(self, context: Context) -> Callable[..., Any]:
        return partial(self._function, **dict(self._out.filled(self._out.body, context)))


class _Workers:
    """What calls the function in an event loop: in worker threads, where it is not async."""

    def __init__(self, definition: StoredEndpoint, pace: Pace) -> None:
        self.slots = Slots(definition.max_concurrency, pace)
        self._threads = anyio.CapacityLimiter(definition.max_concurrency)
        self._timeout_s = definition.timeout_seconds

    async def call(self, function: Callable[..., Any]) -> Any:
        """What a function gives that has its arguments."""
        return await Caller(function, self._threads, timeout_s=self._timeout_s)()

    async def aclose(self) -> None:
        """Nothing is open."""


def found(name: str, place: Surroundings) -> Callable[..., Any]:
    """The function behind "module:function"; a dot may go on from there.

    Raises:
        EndpointError: there is none.
    """
    try:
        value = target(name)
    except (Exception, SystemExit) as error:  # what a module does when it is imported may be anything
        what = f"the function {name!r:.200} cannot be had: {type(error).__name__}: {error!s:.500}"
        advice = "Write module:function, such as my_bot.main:answer. Is the folder of the module on PYTHONPATH?"
        raise place.fail(what, kind="configuration_error", advice=advice) from error
    if not callable(value):
        place.misconfigured(f"{name:.200} is no function, but a {type(value).__name__}")
    function: Callable[..., Any] = value
    return function


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return parameters_of(function)
    except ValueError:  # some of those that are written in C tell nothing of themselves
        return [inspect.Parameter("message", inspect.Parameter.POSITIONAL_ONLY)]


def filler(function: Callable[..., Any], place: Surroundings) -> Callable[[Context], Callable[..., Any]]:
    """What gives a function its arguments: by name what is called so, and the message to the first of another name.

    Raises:
        EndpointError: it asks for more.
    """
    parameters = _parameters(function)
    named = [each.name for each in parameters if each.name in NAMES and each.kind is not each.VAR_POSITIONAL]
    others = [each for each in parameters if each.name not in NAMES]
    takes_message = "input" not in named and bool(others) and others[0].kind in _POSITIONAL
    needed = [each for each in others[takes_message:] if each.default is each.empty and each.kind not in _VARIABLE]
    if needed:
        place.misconfigured(
            f"the function asks for {', '.join(each.name for each in needed):.200}, which is nothing that there is",
            f"A function is given the message and, by name, {', '.join(sorted(NAMES))}.",
        )
    message = others[0].name if takes_message else None

    def filled(context: Context) -> Callable[..., Any]:
        given = {name: context[name] for name in named} | ({message: context["input"]} if message else {})
        first = [each.name for each in parameters if each.kind is each.POSITIONAL_ONLY and each.name in given]
        positional = [given.pop(name) for name in first]
        return partial(function, *positional, **given)

    return filled
