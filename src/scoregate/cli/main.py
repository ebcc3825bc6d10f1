"""The parser, and the only place where errors end."""

from __future__ import annotations

import gc
import importlib
import io
import os
import sys

import click

from scoregate import __version__
from scoregate.errors import ScoregateError

COMMANDS = {
    "run": "run the suites, compare with the base, judge",
    "exec": "run one command, in any language, as `run` runs suites",
    "list": "show which suites would run, and why each was found",
    "compare": "hold one run against another",
    "gate": "judge a finished run under the present settings",
    "report": "write a finished run as junit, markdown, json or console",
    "merge": "put several runs together, and judge and report them as one",
    "publish": "comment for a fork's run, from a workflow that has the right to",
    "power": "show how many cases or repeats it takes to see a drop",
    "overrides": "list, add, remove, import and export people's corrections of judges",
    "verdicts": "list, add, remove, import and export people's verdicts on pairs of outputs",
    "view": "show runs on a page of this machine, any two of them, and follow one live",
    "review": "judge battles and correct judges on a page of this machine",
    "dataset": "list, show, add, compare and delete datasets and their versions",
    "testset": "list, show, import and export test sets, and run one",
    "synthesize": "have a model write tests, into a table to review",
    "agreement": "show how well judges agree with people, and fail when they do not",
    "judge": "list, show, add, tag and diff judges with versions",
    "config": "list, show, add and remove test configs",
    "init": "write a starter suite, settings and a workflow",
}
# The entry point of the GitHub Action: for its files, not for people.
HIDDEN = {"action"}
# Those whose outputs and summary later steps of a job rely on.
REPORTING = {"action", "run", "exec", "merge", "publish"}
INTERRUPTED = 130
OUR_FAULT = 4


class Commands(click.Group):
    """Commands that are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Their names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of this name."""
        if cmd_name not in COMMANDS.keys() | HIDDEN:
            return None
        command: click.Command = importlib.import_module(f"scoregate.cli.{cmd_name}_command").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Their names and what they do, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="scoregate")
def cli() -> None:
    """Evals as a gate on pull requests.

    \b
    Exit codes: 0 passed · 1 a gate failed · 2 wrong usage or settings ·
    3 could not be measured · 4 our own fault · 130 interrupted
    """


def main() -> None:
    """Run the command line and end the process with its exit code."""
    # We hold columns of numbers and stream the rest: the collector would look through the same objects again and again.
    gc.set_threshold(100_000, 50, 50)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a locale that lacks our marks costs the marks, not the run
            stream.reconfigure(errors="replace")
    sys.exit(run_cli(sys.argv[1:]))


def run_cli(arguments: list[str]) -> int:
    """Run a command and return its exit code; whatever it raises is told on standard error."""
    try:
        result = cli.main(arguments, prog_name="scoregate", standalone_mode=False)
    except BaseException as error:
        return _told(_first(error), arguments)
    return result if isinstance(result, int) else 0


def _first(error: BaseException) -> BaseException:
    """The error itself, out of the groups that concurrent work wraps around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _told(error: BaseException, arguments: list[str]) -> int:
    if arguments[:1] and arguments[0] in REPORTING and isinstance(error, Exception):
        from scoregate.cli.fallback import report_failure

        report_failure([str(error) if isinstance(error, ScoregateError) else type(error).__name__])
    if isinstance(error, ScoregateError):
        _complain(_without_secrets(str(error)))
        return error.exit_code
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, KeyboardInterrupt | click.Abort):
        _tell("interrupted")
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        from scoregate.cli.terminal import hush

        hush(sys.stdout)
        return 0
    if not isinstance(error, Exception):
        raise error
    import traceback

    _tell(_without_secrets("".join(traceback.format_exception(error))))
    _tell(f"this is a fault of scoregate {__version__}, not of your suites: {type(error).__name__}")
    return OUR_FAULT


def _without_secrets(text: str) -> str:
    from scoregate.ci.secrets import Redactor, secret_values

    return Redactor(secret_values(os.environ)).text(text)


def _complain(text: str) -> None:
    """In a job, as an annotation that the run's page shows."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        _tell(f"error: {text}")
        return
    from scoregate.ci.github.commands import command

    click.echo(command("error", _printable(text), title="scoregate"), err=True)


def _tell(text: str) -> None:
    from scoregate.ci.github.commands import harmless

    click.echo(harmless(_printable(text)), err=True)


def _printable(text: str) -> str:
    return "".join(char for char in text if char.isprintable() or char == "\n")
