"""The end of a command: the table, the verdict, where the reports are."""

from __future__ import annotations

import os
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

from scoregate.ci.flow import Outcome
from scoregate.ci.report.console import render
from scoregate.ci.report.context import Context
from scoregate.ci.report.make_view import make_view


def close(outcome: Outcome, out: Path | None, console: Console) -> None:
    """Print it. `out` is the folder that the reports were written to, if any were."""
    view = make_view(outcome.comparison, outcome.verdict, Context(generated_at=time.time()))
    console.print(render(view))
    if outcome.warnings and os.environ.get("GITHUB_ACTIONS") != "true":
        console.print(Text("\n".join(outcome.warnings), style="yellow"))
    if out is not None:
        console.print(Text(f"Reports: {_shown(out)}/ (comment.md, junit.xml, result.json, run/)"))


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
