"""What those who watch a run have in common: what is said, how often is looked, how foreign lines are shown."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TypeAlias

import anyio
from rich.text import Text

from scoregate.ci.github.commands import harmless_marks
from scoregate.ci.recording import Observer
from scoregate.ci.report.text import excerpt

_LONGEST_LINE = 2_000
_TICK_S = 0.25
_SHARE = 20  # of our time at most one part in so many goes into looking
Say: TypeAlias = Callable[[Text], None]


@dataclass(frozen=True, slots=True)
class Watch:
    """`observe` shows what happens, `say` any line in between, `tick` what has been held back."""

    observe: Observer
    say: Say
    tick: Callable[[], None]


@asynccontextmanager
async def ticking(tick: Callable[[], None]) -> AsyncIterator[None]:
    """Call it a few times a second while the block lasts, so that silence does not hide what came before it."""

    async def beat() -> None:
        while True:
            await anyio.sleep(_TICK_S)
            tick()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beat)
        yield
        tasks.cancel_scope.cancel()


@dataclass(slots=True)
class Pace:
    """Says when to look again: not too often, and more seldom the longer a look takes."""

    every_s: float
    _next: float = 0.0

    def is_due(self) -> bool:
        """Whether it is time."""
        return monotonic() >= self._next

    @contextmanager
    def taken(self) -> Iterator[None]:
        """A look, of which is measured how long it takes."""
        started = monotonic()
        yield
        now = monotonic()
        self._next = now + max(self.every_s, _SHARE * (now - started))


def printed(line: str) -> Text:
    """A line that somebody else printed, set apart so that nothing in it is taken for ours or for CI's command.

    It keeps its indentation and is not broken; what would steer a terminal is taken out.
    """
    seen = excerpt(line, _LONGEST_LINE).replace("\n", " ").expandtabs(4)
    return Text(f"  | {harmless_marks(seen)}", style="dim")
