"""`scoregate action`: the entry point of the GitHub Action, which gets inputs instead of flags."""

from __future__ import annotations

import contextlib
import importlib
import os

import click

from scoregate.cli.options import load_project_settings, project_root
from scoregate.errors import ScoregateError, UsageError
from scoregate.kernel.host.isolation.workspace import separate_accounts
from scoregate.kernel.host.user_ids import give_folder

COMMANDS = ("run", "publish", "plan", "merge", "answer", "mutate")
# The inputs of each command that are options and no settings.
_OPTIONS = {
    "run": ("shard", "partition"),
    "plan": ("shards", "target"),
    "merge": ("expect",),
    "answer": ("app-token",),
    "publish": ("run-result",),
    "mutate": ("budget", "since"),
}


@click.command("action")
def command() -> int:
    """Run the command that the input `command` names. The owner of the workspace owns its files afterwards."""
    name = os.environ.get("INPUT_COMMAND", "").strip() or COMMANDS[0]
    if name not in COMMANDS:
        raise UsageError(f"input command: {name!r:.80} is unknown; use one of {', '.join(COMMANDS)}")
    target: click.Command = importlib.import_module(f"scoregate.cli.{name}_command").command
    try:
        with separate_accounts(os.environ) if name in ("run", "mutate") else contextlib.nullcontext():
            code: int = target.main(_arguments(name), prog_name=f"scoregate {name}", standalone_mode=False)
    finally:
        with contextlib.suppress(ScoregateError):  # the error of the command counts
            root = project_root()
            give_folder(root / load_project_settings(root, {}).out, os.environ)
    return code


def _arguments(name: str) -> list[str]:
    """The arguments of a command that are not settings."""
    arguments = ["--format", "github"] if name == "plan" else []
    for option in _OPTIONS.get(name, ()):
        # The composite action can't set variables with a dash.
        names = (f"INPUT_{option.upper()}", f"INPUT_{option.upper().replace('-', '_')}")
        if value := next(filter(None, (os.environ.get(name, "").strip() for name in names)), ""):
            arguments += [f"--{option}", value]
    return [*arguments, "--", *os.environ.get("INPUT_RUNS", "").split()] if name == "merge" else arguments
