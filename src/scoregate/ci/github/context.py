"""What a workflow tells us of itself: the environment and the event, read once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scoregate.ci.github.answers import parse_json

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class GitHub:
    """A job of a workflow.

    Args:
        repository: `owner/name`. sha: the commit that the event is about; of a pull request, the merge commit.
        event: the payload. ref_name: `main`.
        run_id, run_attempt: of the workflow's run, from 1; the first grows with time within a repository.
        api_url, graphql_url, server_url: addresses without a slash at their end; those of a GitHub Enterprise Server
            where the job runs on one.
        workspace: the folder that the repository is checked out in.
        output, summary: the files for the step's outputs and its summary; None where there are none.
    """

    repository: str
    event_name: str
    sha: str
    event: Mapping[str, Any] = field(default_factory=dict, repr=False)
    ref_name: str = ""
    run_id: int = 0
    run_attempt: int = 1
    workflow: str = ""
    job: str = ""
    actor: str = ""
    api_url: str = "https://api.github.com"
    graphql_url: str = "https://api.github.com/graphql"
    server_url: str = "https://github.com"
    workspace: Path | None = None
    output: Path | None = None
    summary: Path | None = None

    @property
    def repository_url(self) -> str:
        """The repository's page."""
        return f"{self.server_url}/{self.repository}"

    @property
    def run_url(self) -> str:
        """The page of the workflow's run."""
        return f"{self.repository_url}/actions/runs/{self.run_id}"

    @property
    def run(self) -> str:
        """The run with its attempt, `1234567.1`."""
        return f"{self.run_id}.{self.run_attempt}"


def read_context(environ: Mapping[str, str]) -> GitHub | None:
    """The job that we run in; None where we run in none."""
    repository = environ.get("GITHUB_REPOSITORY", "")
    if environ.get("GITHUB_ACTIONS") != "true" or not _REPOSITORY.fullmatch(repository):
        return None
    addresses = {name: _address(environ, name) for name in ("api_url", "graphql_url", "server_url")}
    texts = ("event_name", "sha", "ref_name", "workflow", "job", "actor")
    return GitHub(
        repository=repository,
        event=_payload(environ),
        run_id=_number(environ, "GITHUB_RUN_ID", default=0),
        run_attempt=_number(environ, "GITHUB_RUN_ATTEMPT", default=1),
        workspace=_path(environ, "GITHUB_WORKSPACE"),
        output=_path(environ, "GITHUB_OUTPUT"),
        summary=_path(environ, "GITHUB_STEP_SUMMARY"),
        **{name: environ.get(f"GITHUB_{name.upper()}", "") for name in texts},
        **{name: address for name, address in addresses.items() if address},
    )


def slug(key: str) -> str:
    """A key as a word that may stand in the name of an artifact, a file and a comment's marker."""
    return _NOT_IN_NAMES.sub("-", key).strip("-.")[:80] or "scoregate"


def _payload(environ: Mapping[str, str]) -> Mapping[str, Any]:
    try:
        payload = parse_json(Path(environ["GITHUB_EVENT_PATH"]).read_bytes())
    except (KeyError, OSError, ValueError):
        return {}
    return payload if isinstance(payload, dict) else {}


def _address(environ: Mapping[str, str], name: str) -> str:
    return environ.get(f"GITHUB_{name.upper()}", "").rstrip("/")


def _number(environ: Mapping[str, str], name: str, *, default: int) -> int:
    text = environ.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else default


def _path(environ: Mapping[str, str], name: str) -> Path | None:
    return Path(environ[name]) if environ.get(name) else None
