"""`scoregate action`: the entry point of the GitHub Action; a command, told by inputs instead of flags."""

from __future__ import annotations

import contextlib
import importlib
import os

import click

from scoregate.ci.identity import give_folder
from scoregate.ci.isolation import separate_accounts
from scoregate.cli.options import project_root, settings_of
from scoregate.errors import ScoregateError, UsageError

COMMANDS = ("run", "publish", "merge")


@click.command("action")
def command() -> int:
    """Run the command that the input `command` names; what it wrote belongs to the workspace's owner afterwards."""
    name = os.environ.get("INPUT_COMMAND", "").strip() or COMMANDS[0]
    if name not in COMMANDS:
        raise UsageError(f"command = {name!r:.80} (the action's input): there are {', '.join(COMMANDS)}")
    twin: click.Command = importlib.import_module(f"scoregate.cli.{name}_command").command
    try:
        with separate_accounts(os.environ) if name == "run" else contextlib.nullcontext():
            code: int = twin.main(_arguments(name), prog_name=f"scoregate {name}", standalone_mode=False)
    finally:
        _give_away()
    return code


def _arguments(name: str) -> list[str]:
    """What a command takes besides settings."""
    if name != "merge":
        return []
    expect = os.environ.get("INPUT_EXPECT", "").strip()
    return [*(["--expect", expect] if expect else []), "--", *os.environ.get("INPUT_RUNS", "").split()]


def _give_away() -> None:
    with contextlib.suppress(ScoregateError):
        root = project_root()
        give_folder(root / settings_of(root, {}).out, os.environ)
