"""Text for the terminal: marks, colours, and words from outside in which nothing is a command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from scoregate.ci.report.row_views import State
from scoregate.ci.report.text import name, one_line
from scoregate.core.rules import Conclusion

MARKS = {
    State.FAILED: ("✗", "bold red"),
    State.WORSE: ("↓", "red"),
    State.UNMEASURABLE: ("!", "bold yellow"),
    State.UNCERTAIN: ("?", "yellow"),
    State.NOT_COMPARABLE: ("!", "yellow"),
    State.REMOVED: ("-", "yellow"),
    State.NEW: ("+", "cyan"),
    State.BETTER: ("↑", "green"),
    State.HELD: ("✓", "green"),
    Conclusion.PASSED: ("✓", "bold green"),
}  # a Conclusion and a State of one word are equal


def mark(of: State | Conclusion) -> Text:
    """One character, in the colour of what it means."""
    return Text(*MARKS[of])


def shown(text: str, limit: int = 400) -> str:
    """Text from outside on one line. In a job, the console itself breaks what the runner would take for a command."""
    return one_line(text, limit)


def place(suite: str, evaluator: str | None) -> str:
    """A suite, or an evaluator of it."""
    return " · ".join(shown(name(part)) for part in (suite, evaluator) if part is not None)


def hung(sign: Text, text: Text) -> Table:
    """Text behind a sign, its further lines below its first."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(sign, text)
    return grid


@dataclass(frozen=True, slots=True)
class Trimmed:
    """What it holds, without the white space that tables leave at the ends of lines."""

    held: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out for the width that there is."""
        for line in console.render_lines(self.held, options, pad=False):
            yield from _trimmed(line)
            yield Segment.line()


def _trimmed(line: list[Segment]) -> Iterator[Segment]:
    kept = len(line)
    while kept and not line[kept - 1].text.strip():
        kept -= 1
    yield from line[: kept - 1]
    yield from (Segment(last.text.rstrip(), last.style) for last in line[kept - 1 : kept])


@dataclass(frozen=True, slots=True)
class Clamped:
    """Text as a paragraph of at most so many lines, the last of them ending in `…` where more was left out."""

    text: Text
    most: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Break it for the width that there is."""
        lines = list(self.text.wrap(console, options.max_width))
        if len(lines) > self.most:
            lines = lines[: self.most]
            lines[-1].rstrip()
            lines[-1].truncate(max(options.max_width - 1, 1))
            lines[-1].append("…")
        yield from lines


def widest(texts: Iterable[Text | str], most: int) -> int:
    """The cells that the widest takes, at most so many."""
    return min(
        max((Text(text).cell_len if isinstance(text, str) else text.cell_len for text in texts), default=0), most
    )
