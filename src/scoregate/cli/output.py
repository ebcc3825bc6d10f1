"""The output of a command: how much it prints, to which stream, and the final report."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.style import Style
from rich.text import Text

from scoregate.ci.archive import RUN_FOLDER
from scoregate.ci.github.commands import harmless
from scoregate.ci.github.context import read_github_job
from scoregate.ci.report.context import ReportContext
from scoregate.ci.secrets import Redactor, secret_values
from scoregate.ci.user_ids import in_ci
from scoregate.core.records import record

if TYPE_CHECKING:
    from scoregate.ci.pipeline import GateResult
    from scoregate.ci.report.view import ReportView

_LOG_WIDTH = 120
_NARROWEST = 20
_FEWER_LINES = (30, 20, 12, 6, 0)


class SafeLog(io.StringIO):
    """The log of a GitHub job; text that the runner would execute as a command is made harmless."""

    def __init__(self, log: TextIO) -> None:
        super().__init__()
        self._log = log

    def write(self, text: str) -> int:
        """Write text with harmless commands."""
        self._log.write(harmless(text))
        return len(text)

    def flush(self) -> None:
        """Flush the log."""
        self._log.flush()


class Terminal(Console):
    """A console that stops writing if its pipe is closed, so that `| head` does not change the exit code."""

    def on_broken_pipe(self) -> None:
        """Write nothing more."""
        self.quiet = True
        discard_output(sys.__stderr__ if self.stderr else sys.__stdout__)


def make_console(*, stderr: bool = False) -> Terminal:
    """Create a console as wide as its window; logs and pipes are COLUMNS or 120 wide."""
    log = sys.stderr if stderr else sys.stdout
    file = SafeLog(log) if os.environ.get("GITHUB_ACTIONS") == "true" else None
    console = Terminal(stderr=stderr, file=file, highlight=False, markup=False, emoji=False, soft_wrap=False)
    if not console.file.isatty():
        columns = os.environ.get("COLUMNS", "")
        is_number = columns.isascii() and columns.isdigit()
        console.width = max(int(columns), _NARROWEST) if is_number else _LOG_WIDTH
    return console


def is_interactive(console: Console) -> bool:
    """Whether the console is a terminal that can be redrawn. Forced colours alone don't make a log a terminal."""
    return console.file.isatty() and not console.is_dumb_terminal and not in_ci(os.environ)


def discard_output(stream: TextIO | None) -> None:
    """Discard further output to a stream whose pipe is closed."""
    if stream is not None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


@record
class OutputOptions:
    """How much a command prints.

    `quiet`: only failures and the verdict. `verbose`: everything. `json`: the result goes to stdout, other output to
    stderr.
    """

    quiet: bool = False
    verbose: bool = False
    json: bool = False


@record
class Output:
    """The streams of a command: `console` for people, `document` for the result as JSON if it was requested."""

    options: OutputOptions
    console: Console
    document: TextIO | None = None


@contextmanager
def open_output(options: OutputOptions) -> Iterator[Output]:
    """Open the output of a command. With `--json`, stdout gets the result and nothing else."""
    if not options.json:
        yield Output(options, make_console())
        return
    document = sys.stdout
    with redirect_stdout(sys.stderr):
        console = make_console(stderr=True)
        console.quiet = options.quiet
        yield Output(options, console, document)


def write_document(chunks: Iterable[str], document: TextIO) -> None:
    """Write a document in UTF-8, whatever the locale. A closed pipe is no error."""
    try:
        document.flush()
        for chunk in chunks:
            document.buffer.write(chunk.encode())
        document.buffer.flush()
    except BrokenPipeError:
        discard_output(document)


_REPORTS = ("report.html", "comment.md", "junit.xml", "result.json", RUN_FOLDER)


def print_result(
    outcome: GateResult, out: Path | None, output: Output, *, named: str = "", height: int | None = None
) -> None:
    """Print the final report of a command, and the result as JSON if it was requested.

    Args:
        outcome: what was run and judged.
        out: the folder with the reports, if any were written.
        output: the streams.
        named: the folder of the run, if the command got one.
        height: the number of lines that it should fit in, by fewer failing cases.
    """
    from scoregate.ci.report.console import render, render_brief
    from scoregate.ci.report.console_sections import MOST_LINES

    view = outcome.view or build_outcome_view(outcome, named=named)
    console, options = output.console, output.options
    see = " or ".join((*(["report.html"] if out else []), *([] if options.quiet else ["-v"])))
    for case_lines in (MOST_LINES, *(_FEWER_LINES if height is not None else ())):
        brief = render_brief(view, see=see) if options.quiet else None
        with console.capture() as printed:
            for part in brief or render(view, full=options.verbose, see=see, case_lines=case_lines):
                console.print(part)
            if outcome.warnings and os.environ.get("GITHUB_ACTIONS") != "true":
                console.print(Text("\n".join(outcome.warnings), style="yellow"))
            if out is not None and not options.quiet:
                _print_report_paths(out, outcome.comment, console, view_command=view.context.command("view"))
        text = printed.get()
        if height is None or text.count("\n") <= height:
            break
    console.out(view.context.redact(text), end="", highlight=False)
    if output.document is not None:
        from scoregate.ci.report import result_json

        write_document(map(view.context.redact, result_json.render(view)), output.document)


def build_outcome_view(outcome: GateResult, *, named: str = "") -> ReportView:
    """Build the view of an outcome without reports; `named` is the folder of the run, if the command got one."""
    from scoregate.ci.report.build_view import build_view

    context = ReportContext(generated_at=time.time(), named=named, redact=make_redactor())
    return build_view(outcome.comparison, outcome.verdict, context)


def make_redactor() -> Callable[[str], str]:
    """The function that removes the secrets of the environment from a text."""
    return Redactor(secret_values(os.environ)).text


def _print_report_paths(out: Path, comment: str, console: Console, *, view_command: str) -> None:
    """Print where the reports are: folder, files, the command that shows them, and the pages of the job."""
    from scoregate.ci.report.console_text import TrimmedLines, hanging_indent

    cwd = Path.cwd()
    folder = Text(f"{out.relative_to(cwd) if out.is_relative_to(cwd) else out}/", style=Style(link=out.as_uri()))
    existing = [f"{name}/" if (out / name).is_dir() else name for name in _REPORTS if (out / name).exists()]
    missing = [name for name in _REPORTS if not (out / name).exists()]
    console.print(
        TrimmedLines(hanging_indent(Text("Reports:"), Text.assemble(folder, f" ({', '.join(existing) or 'none'})")))
    )
    if missing:
        console.print(TrimmedLines(hanging_indent(Text("Not written:", style="yellow"), Text(", ".join(missing)))))
    if is_interactive(console):
        console.print(Text(f"Open: {view_command}"))
    github = read_github_job(os.environ)
    for name, url in (("Run", github.run_url if github else ""), ("Comment", comment)):
        if url:
            console.print(Text.assemble(f"{name}: ", Text(url, style=Style(link=url))), soft_wrap=True)
