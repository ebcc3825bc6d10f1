"""The function under test of an offline test: the agent, called with an example's fields."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from scoregate.datasets import Example
from scoregate.engine.call import is_async
from scoregate.engine.errors import ENDINGS, error_info
from scoregate.offline_tests.agents import Filling
from scoregate.offline_tests.rows import Attempt
from scoregate.offline_tests.types import AgentFunction


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls an agent. `begin` makes the attempt that an example's call is; `failed` is told that it raised."""

    agent: AgentFunction
    filling: Filling
    begin: Callable[[Example], Attempt]
    failed: Callable[[Attempt], None]

    @property
    def task(self) -> Callable[[Example], Any]:
        """As the engine takes it: async where the agent is."""
        return self._call_async if is_async(self.agent) else self._call

    def _call(self, example: Example) -> Any:
        attempt = self.begin(example)
        try:
            output = self.agent(**self.filling.arguments(example.properties))
        except BaseException as error:  # the user's code may raise anything
            self._tell(attempt, error)
            raise
        return self._settled(attempt, output) if inspect.isawaitable(output) else _answered(attempt, output)

    async def _call_async(self, example: Example) -> Attempt:
        attempt = self.begin(example)
        return await self._settled(attempt, self.agent(**self.filling.arguments(example.properties)))

    async def _settled(self, attempt: Attempt, output: Awaitable[Any]) -> Attempt:
        try:
            return _answered(attempt, await output)
        except ENDINGS:
            raise
        except BaseException as error:  # the user's code may raise anything
            self._tell(attempt, error)
            raise

    def _tell(self, attempt: Attempt, error: BaseException) -> None:
        attempt.error = said(error)
        self.failed(attempt)


def _answered(attempt: Attempt, output: Any) -> Attempt:
    attempt.output, attempt.has_output = output, True
    return attempt


def said(error: BaseException) -> str:
    """An error in one line: its type and its message."""
    info = error_info(error)
    return f"{info.type}: {info.message}"
