"""The command line: its commands, and how errors become messages and exit codes."""

from __future__ import annotations

import gc
import importlib
import io
import os
import sys
from contextlib import suppress

import click

from scoregate import __version__
from scoregate.errors import DiskFull, ScoregateError

COMMAND_GROUPS = {
    "Run": {
        "run": "run the suites, compare them with a baseline, apply the gates",
        "plan": "estimate what a run will cost, and divide its suites among shards",
        "list": "list the suites that would run, and why each was found",
        "exec": "run one command, in any language, instead of suites in Python",
        "gateway": "keep the keys of models, and limit, count, record and replay calls in any language",
        "init": "write a starter suite, settings and a workflow",
        "settings": "print every setting, its value and where it was set",
    },
    "Results": {
        "gate": "apply the gates of the current settings to a finished run",
        "report": "write a finished run as JUnit, Markdown, JSON, HTML or console text",
        "compare": "compare two runs",
        "accept": "accept the regressions of the last run until a date",
        "merge": "merge several runs, then gate and report them as one",
        "view": "open a local page that shows runs, compares them and follows one live",
        "blame": "find which part of the change made cases of the last run fail",
        "mutate": "edit parts of prompts and data, and measure whether the evals notice",
        "power": "estimate how many cases or repeats it takes to detect a drop",
    },
    "Data": {
        "dataset": "list, show, extend, compare and delete datasets and their versions",
        "testset": "list, show, import and export test sets, and run one",
        "synthesize": "generate tests with a model, as a CSV file to review",
        "schema": "print the JSON Schema of cases, for editors",
        "config": "list, show, add and remove test configs",
    },
    "Review": {
        "review": "open a local page to review battles and scores of judges",
        "overrides": "list, add, remove, import and export corrections of judges",
        "verdicts": "list, add, remove, import and export verdicts on pairs of outputs",
        "agreement": "measure how well judges agree with people, as a gate if required",
        "judge": "list, show, add, tag and compare versions of judges",
    },
    "History": {
        "history": "ask earlier runs for trends, flaky cases and costs",
    },
    "Other tools": {
        "convert": "write suites from the configurations of promptfoo and OpenAI Evals",
        "mcp": "answer questions of coding agents about the last run (an MCP server)",
        "publish": "post the comment for a fork's run (from a privileged workflow_run job)",
        "answer": "answer a command in a comment on a pull request (from a job on issue_comment)",
    },
}
COMMANDS = {name: summary for commands in COMMAND_GROUPS.values() for name, summary in commands.items()}
# The entry point of the GitHub Action.
HIDDEN = {"action"}
# Commands whose outputs and summary later steps of a job use.
COMMANDS_WITH_REPORTS = {"action", "run", "exec", "merge", "publish", "answer"}
INTERRUPTED = 130  # as shells report the end by SIGINT: 128 and its number, 2
INTERNAL_ERROR = 4


class Commands(click.Group):
    """Commands that are imported when they are called: most of them need only some of the packages."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """List the names of the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command of this name."""
        if cmd_name not in COMMANDS.keys() | HIDDEN:
            return None
        return _import_command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the error for a misspelled one suggests a similar one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            if not (near := get_close_matches(args[0], COMMANDS, 1)):
                raise
            raise click.UsageError(f"{error.message} (Did you mean {near[0]!r}?)", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands with their summaries, without importing them."""
        widest = max(map(len, COMMANDS))
        for title, commands in COMMAND_GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), summary) for name, summary in commands.items()])


def _import_command(name: str) -> click.Command:
    command: click.Command = importlib.import_module(f"scoregate.cli.{name}_command").command
    return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="scoregate")
def cli() -> None:
    """Evals as a gate on pull requests.

    \b
    Exit codes: 0 passed · 1 a gate failed · 2 wrong usage or settings ·
    3 could not be measured · 4 internal error · 130 interrupted
    """


def main() -> None:
    """Run the command line and end the process with its exit code."""
    # Most memory is columns of numbers: frequent collections would scan the same objects again and again.
    gc.set_threshold(100_000, 50, 50)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a locale without ✓ and ✗ must not end the run
            stream.reconfigure(errors="replace")
    if (name := next(iter(sys.argv[1:]), "")) in COMMANDS.keys() | HIDDEN:
        with suppress(Exception):  # it is imported again, and the error reported
            _import_command(name)
        # What is imported stays: without this, a collection would look at all of it (30 ms of CPU, measured).
        gc.freeze()
    exit_code = run_cli(sys.argv[1:])
    # At its end, Python looks for cycles among all objects, again and again: it takes 100 ms of CPU (measured).
    gc.freeze()
    sys.exit(exit_code)


def run_cli(arguments: list[str]) -> int:
    """Run a command and return its exit code; errors are printed to stderr."""
    try:
        result = cli.main(arguments, prog_name="scoregate", standalone_mode=False)
    except BaseException as error:
        first: BaseException = error
        while isinstance(first, BaseExceptionGroup):  # task groups raise groups
            first = first.exceptions[0]
        try:
            return _report_error(first, arguments)
        except OSError as second:  # stderr is on the full disk, too
            if not DiskFull.is_cause(second):
                raise
            _discard_refused_output()
            return DiskFull.exit_code
    return result if isinstance(result, int) else 0


def _report_error(error: BaseException, arguments: list[str]) -> int:
    if DiskFull.is_cause(error):
        place = getattr(error, "filename", None) or "the output"
        error = DiskFull(
            f"the disk is full, so {place} can't be written",
            advice="Free some space, or write to another disk: --out and TMPDIR name folders.",
        )
        _discard_refused_output()
    if arguments[:1] and arguments[0] in COMMANDS_WITH_REPORTS and isinstance(error, Exception):
        from scoregate.cli.failure_report import report_failure

        report_failure([str(error) if isinstance(error, ScoregateError) else type(error).__name__])
    if isinstance(error, ScoregateError):
        text = _without_secrets(str(error))
        if os.environ.get("GITHUB_ACTIONS") == "true":
            from scoregate.kernel.job.github.commands import command

            # The page of the run shows annotations.
            click.echo(command("error", _printable(text), title="scoregate"), err=True)
        else:
            _print_text(f"error: {text}")
        return error.exit_code
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, KeyboardInterrupt | click.Abort):
        _print_text("interrupted")
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        from scoregate.cli.console import discard_output

        discard_output(sys.stdout)
        return 0
    if not isinstance(error, Exception):
        raise error
    import traceback

    _print_text(_without_secrets("".join(traceback.format_exception(error))))
    _print_text(f"internal error in scoregate {__version__}; please report it: {type(error).__name__}")
    return INTERNAL_ERROR


def _discard_refused_output() -> None:
    """Discard what a full disk refuses, or Python ends with another exit code."""
    from scoregate.cli.console import discard_output

    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            discard_output(stream)


def _without_secrets(text: str) -> str:
    from scoregate.kernel.host.secrets import Redactor, secret_values

    return Redactor(secret_values(os.environ)).text(text)


def _print_text(text: str) -> None:
    from scoregate.kernel.job.github.commands import harmless

    click.echo(harmless(_printable(text)), err=True)


def _printable(text: str) -> str:
    return "".join(char for char in text if char.isprintable() or char == "\n")
