"""The Python that runs suites, and what the host gives to features that prepare it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.kernel.types.records import record

if TYPE_CHECKING:
    from scoregate.kernel.host.secrets import Redactor
    from scoregate.kernel.host.user_ids import Identity


@record
class Interpreter:
    """The command that starts Python, and the reason for it.

    Args:
        argv: the command.
        why: the reason.
        environment: variables for the suites' processes, by which they find the programs of the same environment.
        notes: what else is prepared for them.
        launcher: the words before a command that start it in the same environment, such as `uv run`.
    """

    argv: tuple[str, ...]
    why: str
    environment: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    launcher: tuple[str, ...] = ()


@record
class SuiteHost:
    """Where suites will run.

    Args:
        root: the project.
        scratch: a folder outside of it, for what is made.
        environ: the host's environment.
        suite_environ: the environment of suites, and of the commands that prepare them.
        redact: removes known secrets from what is printed.
        print_line: prints a line.
        identity: the user that runs the commands; None for the host's own.
    """

    root: Path
    scratch: Path
    environ: Mapping[str, str]
    suite_environ: Mapping[str, str]
    redact: Redactor
    print_line: Callable[[str], None]
    identity: Identity | None = None
