"""The end of a command: the tables, the verdict, where the reports are; for programs, the result."""

from __future__ import annotations

import os
import time
from pathlib import Path

from rich.console import Console
from rich.style import Style
from rich.text import Text

from scoregate.ci.archive import RUN_FOLDER
from scoregate.ci.flow import Outcome
from scoregate.ci.github.context import read_context
from scoregate.ci.report import json
from scoregate.ci.report.console import brief, render
from scoregate.ci.report.console_text import Trimmed, hung
from scoregate.ci.report.context import Context
from scoregate.ci.report.make_view import make_view
from scoregate.ci.report.view import ReportView
from scoregate.ci.secrets import Redactor, secret_values
from scoregate.cli.terminal import is_watched
from scoregate.cli.voice import Stage, emit

_REPORTS = ("report.html", "comment.md", "junit.xml", "result.json", RUN_FOLDER)


def close(outcome: Outcome, out: Path | None, stage: Stage, *, named: str = "") -> None:
    """Print it.

    Args:
        out: the folder that the reports were written to, if any were. named: where the run is that the command was
            given, if it was.
    """
    view = outcome.view or view_of(outcome, named=named)
    with stage.console.capture() as printed:
        _tell(view, outcome, out, stage)
    stage.console.out(view.context.redact(printed.get()), end="", highlight=False)
    if stage.document is not None:
        emit(map(view.context.redact, json.render(view)), stage.document)


def view_of(outcome: Outcome, *, named: str = "") -> ReportView:
    """What reports print of a run that was judged where none was made; `named` is where the run is, if it was named."""
    redact = Redactor(secret_values(os.environ)).text
    return make_view(outcome.comparison, outcome.verdict, Context(generated_at=time.time(), named=named, redact=redact))


def _tell(view: ReportView, outcome: Outcome, out: Path | None, stage: Stage) -> None:
    console, voice = stage.console, stage.voice
    see = " or ".join((*(["report.html"] if out else []), *([] if voice.quiet else ["-v"])))
    for part in brief(view, see=see) if voice.quiet else render(view, whole=voice.verbose, see=see):
        console.print(part)
    if outcome.warnings and os.environ.get("GITHUB_ACTIONS") != "true":
        console.print(Text("\n".join(outcome.warnings), style="yellow"))
    if out is not None and not voice.quiet:
        _tell_of_reports(out, outcome.comment, console, look=view.context.shows_with("view"))


def _tell_of_reports(out: Path, comment: str, console: Console, *, look: str) -> None:
    """Where they are: the folder, what is in it, what shows them here, and in a job the pages that do."""
    folder = Text(f"{_shown(out)}/", style=Style(link=out.as_uri()))
    found = [f"{name}/" if (out / name).is_dir() else name for name in _REPORTS if (out / name).exists()]
    missing = [name for name in _REPORTS if not (out / name).exists()]
    console.print(Trimmed(hung(Text("Reports:"), Text.assemble(folder, f" ({', '.join(found) or 'none'})"))))
    if missing:
        console.print(Trimmed(hung(Text("Not written:", style="yellow"), Text(", ".join(missing)))))
    if is_watched(console):
        console.print(Text(f"Look: {look}"))
    github = read_context(os.environ)
    for name, url in (("Run", github.run_url if github else ""), ("Comment", comment)):
        if url:
            console.print(Text.assemble(f"{name}: ", Text(url, style=Style(link=url))), soft_wrap=True)


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
