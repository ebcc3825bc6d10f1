"""The page of mistakes: a table for each group."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tools.mistakes import calls, data, files, jobs, runs, settings
from tools.mistakes.mistake import Made, Mistake, make

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "mistakes.md"
GROUPS = {
    "Files": files.MISTAKES,
    "Data": data.MISTAKES,
    "Tasks and scorers": calls.MISTAKES,
    "Settings and options": settings.MISTAKES,
    "Baselines and reports": runs.MISTAKES,
    "Jobs on GitHub": jobs.MISTAKES,
}
_INTRODUCTION = """\
# Mistakes and their messages

What scoregate prints for mistakes that are common in the first hours, and the exit code. `python -m tools.mistakes`
makes each of them and writes this page. A message has the place of the mistake and, where it isn't obvious, what to do.
[Troubleshooting](../troubleshooting.md) explains the rules; [exit codes](exit_codes.md) are 1 for a failed gate,
2 for wrong usage or settings, and 3 for a run that couldn't be measured.
"""


def write_page(make: Callable[[Mistake], Made] = make) -> str:
    """The text of the page."""
    return "\n".join([_INTRODUCTION, *(write_group(title, make) for title in GROUPS)])


def write_group(title: str, make: Callable[[Mistake], Made] = make) -> str:
    """The section of a group."""
    rows = "".join(_write_row(mistake, make(mistake)) for mistake in GROUPS[title])
    return f"## {title}\n\n| Mistake | Message | Exit code |\n|:--|:--|--:|\n{rows}"


def _write_row(mistake: Mistake, made: Made) -> str:
    message = "<br>".join(_write_code(line.strip()) for line in made.message)
    return f"| {mistake.title} | {message} | {made.code} |\n"


def _write_code(line: str) -> str:
    fence = "``" if "`" in line else "`"
    space = " " if "`" in line else ""
    return f"{fence}{space}{line}{space}{fence}".replace("|", "\\|")
