"""The end of a command: the table, the verdict, where the reports are."""

from __future__ import annotations

import os
import time
from pathlib import Path

from rich.console import Console
from rich.style import Style
from rich.text import Text

from scoregate.ci.flow import Outcome
from scoregate.ci.github.context import read_context
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
        _tell_of_reports(out, outcome.comment, console)


def _tell_of_reports(out: Path, comment: str, console: Console) -> None:
    """Where they are: the folder, and in a job the pages that show them."""
    folder = Text(f"{_shown(out)}/", style=Style(link=out.as_uri()))
    console.print(Text.assemble("Reports: ", folder, " (report.html, comment.md, junit.xml, result.json, run/)"))
    github = read_context(os.environ)
    for name, url in (("Run", github.run_url if github else ""), ("Comment", comment)):
        if url:
            console.print(Text.assemble(f"{name}: ", Text(url, style=Style(link=url))), soft_wrap=True)


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
