"""Text for the terminal: marks, colours, and words from outside in which nothing is a command."""

from __future__ import annotations

from rich.text import Text

from scoregate.ci.report.row_views import State
from scoregate.ci.report.text import name, one_line
from scoregate.core.rules import Conclusion

MARKS = {
    State.FAILED: ("✗", "bold red"),
    State.WORSE: ("↓", "red"),
    State.UNMEASURABLE: ("!", "bold yellow"),
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
