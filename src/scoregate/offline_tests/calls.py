"""The function under test of an offline test: the agent, called with an example's fields."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from scoregate.datasets import Example
from scoregate.engine.call import is_async
from scoregate.engine.errors import ENDINGS, error_info
from scoregate.engine.trial import promise
from scoregate.offline_tests.agents import Filling
from scoregate.offline_tests.rows import Attempt
from scoregate.offline_tests.tracer import OfflineTracer
from scoregate.offline_tests.types import AgentFunction


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls an agent. `begin` makes the attempt that an example's call is; `failed` is told that it raised.

    `tracer` is None where nothing can be recorded.
    """

    agent: AgentFunction
    filling: Filling
    begin: Callable[[Example], Attempt]
    failed: Callable[[Attempt], None]
    tracer: OfflineTracer | None = None

    @property
    def task(self) -> Callable[[Example], Any]:
        """As the engine takes it: async where the agent is."""
        return self._call_async if is_async(self.agent) else self._call

    def _call(self, example: Example) -> Any:
        attempt = self._begun(example)
        with self._watched(attempt):
            output = self._asked(attempt)
        return self._settled(attempt, output) if inspect.isawaitable(output) else _answered(attempt, output)

    async def _call_async(self, example: Example) -> Attempt:
        attempt = self._begun(example)
        with self._watched(attempt):
            output = self._asked(attempt)
        return await self._settled(attempt, output)

    async def _settled(self, attempt: Attempt, output: Awaitable[Any]) -> Attempt:
        with self._watched(attempt):
            result = await output
        return _answered(attempt, result)

    def _begun(self, example: Example) -> Attempt:
        promise(attempt := self.begin(example))
        if self.tracer is not None:
            attempt.recording = self.tracer.begin(self.filling.agent, example.properties)
        return attempt

    def _asked(self, attempt: Attempt) -> Any:
        return self.agent(**self.filling.arguments(attempt.example.properties))

    def _watched(self, attempt: Attempt) -> _Watched:
        return _Watched(attempt, self.failed, attempt.recording.active() if attempt.recording else None)


@dataclass(slots=True)
class _Watched(AbstractContextManager[None]):
    """What happens in the block belongs to the attempt's trace; an exception, whatever it is, ends both."""

    attempt: Attempt
    failed: Callable[[Attempt], None]
    recorded: AbstractContextManager[None] | None

    def __enter__(self) -> None:
        if self.recorded is not None:
            self.recorded.__enter__()

    def __exit__(self, kind: Any, error: BaseException | None, where: Any) -> None:
        if self.recorded is not None:
            self.recorded.__exit__(kind, error, where)
        if error is None:
            return
        self.attempt.end_recording()
        if not isinstance(error, ENDINGS):
            self.attempt.error = said(error)
            self.failed(self.attempt)


def _answered(attempt: Attempt, output: Any) -> Attempt:
    attempt.output, attempt.has_output = output, True
    attempt.end_recording(output)
    return attempt


def said(error: BaseException) -> str:
    """An error in one line: its type and its message."""
    info = error_info(error)
    return f"{info.type}: {info.message}"
