"""Text for the terminal: marks, colours, safe untrusted text, and layout."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from scoregate.kernel.report.rows import ReportState
from scoregate.kernel.report.text import display_name, one_line
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format

_DIFFERENT = "bold underline"
MARKS = {
    ReportState.FAILED: ("✗", "bold red"),
    ReportState.WORSE: ("↓", "red"),
    ReportState.UNMEASURABLE: ("!", "bold yellow"),
    ReportState.UNCERTAIN: ("?", "yellow"),
    ReportState.ACCEPTED: ("≈", "yellow"),
    ReportState.EXPLAINED: ("~", "yellow"),
    ReportState.NOT_COMPARABLE: ("!", "yellow"),
    ReportState.REMOVED: ("-", "yellow"),
    ReportState.NEW: ("+", "cyan"),
    ReportState.BETTER: ("↑", "green"),
    ReportState.HELD: ("✓", "green"),
    Conclusion.PASSED: ("✓", "bold green"),
}  # a Conclusion and a ReportState with the same value are equal


def mark(state: ReportState | Conclusion) -> Text:
    """The mark of a state, in its colour."""
    return Text(*MARKS[state])


def safe_text(text: str, limit: int = 400) -> str:
    """Untrusted text on one line. In a job, the console makes commands of the runner harmless."""
    return one_line(text, limit)


_WORD = re.compile(r"\s+|\w+|[^\w\s]")
_LEAST_SIMILAR = 0.3


def mark_differences(first: str, second: str) -> dict[str, Text]:
    """Two texts, each with the words marked that the other one lacks; none if they are equal or hardly alike."""
    words = _WORD.findall(first), _WORD.findall(second)
    matcher = SequenceMatcher(None, *words, autojunk=False)
    if first == second or matcher.ratio() < _LEAST_SIMILAR:
        return {}
    texts = Text(), Text()
    for tag, *bounds in matcher.get_opcodes():
        for text, all_words, start, end in zip(texts, words, bounds[::2], bounds[1::2], strict=True):
            text.append("".join(all_words[start:end]), style=None if tag == "equal" else _DIFFERENT)
    return {first: texts[0], second: texts[1]}


def format_place(suite: str, evaluator: str | None) -> str:
    """The name of a suite, or of an evaluator of it."""
    return " · ".join(safe_text(display_name(part)) for part in (suite, evaluator) if part is not None)


def hanging_indent(sign: Text, text: Text) -> Table:
    """Text behind a sign, with further lines aligned to the first."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(sign, text)
    return grid


@record
class TrimmedLines:
    """A renderable without the white space that tables leave at the ends of lines."""

    content: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the content out for the width of the console."""
        for line in console.render_lines(self.content, options, pad=False):
            while line and not line[-1].text.strip():
                line.pop()
            if line:
                last = line.pop()
                yield from line
                yield Segment(last.text.rstrip(), last.style)
            yield Segment.line()


@record
class ClampedText:
    """A paragraph of at most `most` lines; the last one ends in `…` if it was cut."""

    text: Text
    most: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Wrap the text for the width of the console."""
        lines = list(self.text.wrap(console, options.max_width))
        if len(lines) > self.most:
            lines = lines[: self.most]
            lines[-1].rstrip()
            lines[-1].truncate(max(options.max_width - 1, 1))
            lines[-1].append("…")
        yield from lines


def max_width(texts: Iterable[Text | str], most: int) -> int:
    """The width of the widest text in cells, at most `most`."""
    return min(
        max((Text(text).cell_len if isinstance(text, str) else text.cell_len for text in texts), default=0), most
    )


def more_line(hidden: int, noun: str, rest: str) -> Iterator[Text]:
    """A line about what is left out, if anything is; `rest` says where it is."""
    if hidden > 0:
        yield Text(f"… {number_format.count(hidden, f'more {noun}')}{rest}", style="dim")
