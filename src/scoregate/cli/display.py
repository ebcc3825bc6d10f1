"""The screen of a terminal while scripts run: lines that stay, above a table that is redrawn in place."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType, Segment
from rich.text import Text

_PER_SECOND = 8


@dataclass(slots=True)
class Display:
    """What is shown until the block ends; lines may be said from any thread.

    They are written together, a few times a second: each by itself would cost a redrawing of the table.
    """

    console: Console
    drawing: RenderableType
    _waiting: deque[Text] = field(default_factory=deque)
    _lock: Lock = field(default_factory=Lock)
    _drawn: Sequence[int] = ()
    _width: int = 0

    def say(self, line: Text) -> None:
        """Show a line, or several, above the drawing."""
        self._waiting.append(line)

    def open(self) -> Live:
        """What draws, as a context."""
        return _Live(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The drawing, of which is kept how wide its lines are."""
        lines = console.render_lines(self.drawing, options.update(height=None), pad=False)
        self._drawn = [Segment.get_line_length(line) for line in lines]
        for line in lines:
            yield from line
            yield Segment.line()

    def step(self) -> bool:
        """Say what waits; True where that has redrawn the drawing as well."""
        with self._lock:
            self._make_room()
            lines = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if lines:
                self.console.print(Text("\n").join(lines), soft_wrap=True)
            return bool(lines)

    def _make_room(self) -> None:
        """Where the window became narrower its lines were broken: clear the rows that this has added."""
        before, self._width = self._width, self.console.width
        if self._width < before:
            added = sum(max(-(-cells // self._width) - 1, 0) for cells in self._drawn)
            up = (ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1))
            self.console.control(*([Control(*up)] * added))


class _Live(Live):
    """Rich's, which says what waits whenever it draws."""

    def __init__(self, display: Display) -> None:
        super().__init__(display, console=display.console, refresh_per_second=_PER_SECOND, transient=True)
        self._display = display

    def refresh(self) -> None:
        """Draw again."""
        if not self._display.step():
            super().refresh()
