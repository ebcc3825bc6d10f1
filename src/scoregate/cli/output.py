"""The output of a command: how much it prints, to which stream, and the final report."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from scoregate.kernel.host.runner import read_ci_job
from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.kernel.judge.archive import RUN_FOLDER
from scoregate.kernel.report.context import ReportContext
from scoregate.kernel.types.records import record

if TYPE_CHECKING:  # a run starts its suites before it imports rich
    from rich.console import Console

    from scoregate.kernel.judge.judgement import Judged
    from scoregate.kernel.report.view import ReportView

_FEWER_LINES = (30, 20, 12, 6, 0)


@record
class OutputOptions:
    """How much a command prints.

    `quiet`: only failures and the verdict. `verbose`: everything. `json`: the result goes to stdout, other output to
    stderr.
    """

    quiet: bool = False
    verbose: bool = False
    json: bool = False


class Output:
    """The streams of a command.

    Args:
        options: how much it prints.
        console: for people; by default it is made when something is printed, to stderr if there is a document.
        document: for the result as JSON, if it was requested.
    """

    def __init__(self, options: OutputOptions, console: Console | None = None, document: TextIO | None = None) -> None:
        self.options, self.document = options, document
        self._console = console

    @property
    def console(self) -> Console:
        """The console for people."""
        if self._console is None:
            from scoregate.cli.console import make_console

            self._console = make_console(stderr=self.document is not None)
            self._console.quiet = self.options.quiet and self.document is not None
        return self._console


@contextmanager
def open_output(options: OutputOptions) -> Iterator[Output]:
    """Open the output of a command. With `--json`, stdout gets the result and nothing else."""
    if not options.json:
        yield Output(options)
        return
    document = sys.stdout
    with redirect_stdout(sys.stderr):
        yield Output(options, document=document)


def write_document(chunks: Iterable[str], document: TextIO) -> None:
    """Write a document in UTF-8, whatever the locale. A closed pipe is no error."""
    try:
        document.flush()  # before the bytes: text that waits comes first
        for chunk in chunks:
            document.buffer.write(chunk.encode())
        document.buffer.flush()
    except BrokenPipeError:
        from scoregate.cli.console import discard_output

        discard_output(document)


_REPORTS = ("report.html", "comment.md", "junit.xml", "result.json", RUN_FOLDER)


def print_result(
    outcome: Judged, out: Path | None, output: Output, *, named: str = "", height: int | None = None
) -> None:
    """Print the final report of a command, and the result as JSON if it was requested.

    Args:
        outcome: what was run and judged.
        out: the folder with the reports, if any were written.
        output: the streams.
        named: the folder of the run, if the command got one.
        height: the number of lines that it should fit in, by fewer failing cases.
    """
    from rich.text import Text

    from scoregate.kernel.job.steps import Outcome
    from scoregate.kernel.report.console import render, render_brief
    from scoregate.kernel.report.console_sections import MOST_LINES

    reported = outcome if isinstance(outcome, Outcome) else Outcome(outcome.comparison, outcome.verdict)
    view = reported.view or build_outcome_view(outcome, named=named)
    console, options = output.console, output.options
    see = " or ".join((*(["report.html"] if out else []), *([] if options.quiet else ["-v"])))
    for case_lines in (MOST_LINES, *(_FEWER_LINES if height is not None else ())):
        brief = render_brief(view, see=see) if options.quiet else None
        with console.capture() as printed:
            for part in brief or render(view, full=options.verbose, see=see, case_lines=case_lines):
                console.print(part)
            if reported.warnings and os.environ.get("GITHUB_ACTIONS") != "true":
                console.print(Text("\n".join(reported.warnings), style="yellow"))
            if out is not None and not options.quiet:
                _print_report_paths(out, reported.comment, console, view_command=view.context.command("view"))
        text = printed.get()
        if height is None or text.count("\n") <= height:
            break
    console.out(view.context.redact(text), end="", highlight=False)
    if output.document is not None:
        from scoregate.kernel.report import result_json

        write_document(map(view.context.redact, result_json.render(view)), output.document)


def build_outcome_view(outcome: Judged, *, named: str = "") -> ReportView:
    """Build the view of an outcome without reports; `named` is the folder of the run, if the command got one."""
    from scoregate.kernel.judge.judgement import list_sections
    from scoregate.kernel.report.build_view import build_view

    job = read_ci_job(os.environ)
    context = ReportContext(
        run_url=job.url or None,
        generated_at=time.time(),
        pull_request=bool(job.request),
        request=job.request,
        named=named,
        redact=make_redactor(),
    )
    sections = list_sections(outcome)
    return build_view(outcome.comparison, outcome.verdict, context, sections)


def make_redactor() -> Callable[[str], str]:
    """The function that removes the secrets of the environment from a text."""
    return Redactor(secret_values(os.environ)).text


def _print_report_paths(out: Path, comment: str, console: Console, *, view_command: str) -> None:
    """Print where the reports are: folder, files, the command that shows them, and the pages of the job."""
    from rich.style import Style
    from rich.text import Text

    from scoregate.cli.console import is_interactive
    from scoregate.kernel.job.github.context import read_github_job
    from scoregate.kernel.report.console_text import TrimmedLines, hanging_indent

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
