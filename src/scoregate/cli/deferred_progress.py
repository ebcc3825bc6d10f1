"""Progress that is shown once a script has started: what draws it is imported while the script starts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from threading import Lock
from typing import TYPE_CHECKING

import anyio

from scoregate.cli.output import Output
from scoregate.kernel.run.launch import LaunchEvent, Started
from scoregate.kernel.run.recording import Recording

if TYPE_CHECKING:
    from rich.text import Text

    from scoregate.cli.progress_state import ProgressDisplay

_TICK_S = 0.25


class DeferredProgress:
    """A display that opens once it is asked to, or needed. Any thread can print lines.

    Args:
        output: where it is shown.
        stack: closes the display.
    """

    def __init__(self, output: Output, stack: ExitStack) -> None:
        self._output, self._stack = output, stack
        self._display: ProgressDisplay | None = None
        self._waiting: list[tuple[LaunchEvent, Recording]] = []
        self._lock = Lock()

    def open(self) -> ProgressDisplay:
        """Open the display, unless it is open, and show what waits for it."""
        with self._lock:
            if self._display is None:
                from scoregate.cli.progress import show_progress

                self._display = self._stack.enter_context(show_progress(self._output))
                for event, recording in self._waiting:
                    self._display.observe(event, recording)
                self._waiting.clear()
            return self._display

    def observe(self, event: LaunchEvent, recording: Recording) -> None:
        """Show an event. A script that is about to start waits until it has, so that it need not wait."""
        if self._display is None and isinstance(event, Started):
            self._waiting.append((event, recording))
        else:
            self.open().observe(event, recording)

    def print_line(self, line: Text) -> None:
        """Print a line."""
        self.open().print_line(line)

    async def tick_regularly(self) -> None:
        """Update the display a few times a second, so that the last events are shown without new ones."""
        while True:
            await anyio.sleep(_TICK_S)
            if self._display is not None or self._waiting:
                self.open().tick()


@contextmanager
def defer_progress(output: Output) -> Iterator[DeferredProgress]:
    """A display of progress until the block ends."""
    with ExitStack() as stack:
        yield DeferredProgress(output, stack)


@asynccontextmanager
async def update_progress(display: DeferredProgress, started: anyio.Event) -> AsyncIterator[None]:
    """Open the display once the event is set, and update it until the block ends."""

    async def open_when_started() -> None:
        await started.wait()
        display.open()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(open_when_started)
        tasks.start_soon(display.tick_regularly)
        yield
        tasks.cancel_scope.cancel()
