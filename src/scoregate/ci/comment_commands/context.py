"""Where a command is carried out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from scoregate.ci.github.client import Api
from scoregate.ci.github.context import Connection
from scoregate.ci.secrets import Redactor
from scoregate.ci.steps import Step
from scoregate.core.records import record


@record
class CommandContext:
    """Where a command is carried out. Nothing of the repository is checked out.

    Args:
        root: the working directory.
        environ: the environment of the job.
        connection: the connection to GitHub.
        api: its API.
        redact: removes secrets from what is written.
        steps: the features, by which a run is judged.
        app_token: the token of a GitHub App that commits accepted regressions; empty without one.
    """

    root: Path
    environ: Mapping[str, str]
    connection: Connection
    api: Api
    redact: Redactor
    steps: tuple[Step, ...]
    app_token: str = ""
