"""The context of a GitHub job: its event, what it measures, its connection, and the guard against forks' code."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from scoregate.errors import GitHubRefused, UsageError
from scoregate.kernel.job.github.responses import number_at, parse_json, text_at
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.records import record

if TYPE_CHECKING:
    from scoregate.kernel.job.github.client import Api

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


@record
class GitHubJob:
    """A job of a workflow.

    Args:
        repository: `owner/name`.
        event_name: such as `pull_request`.
        sha: the commit of the event; of a pull request, the merge commit.
        event: the payload.
        ref_name: the branch or tag, such as `main`.
        run_id: the id of the workflow's run; later runs of a repository have greater ids.
        run_attempt: the attempt of the run, from 1.
        workflow: the name of the workflow.
        job: the id of the job.
        actor: the login of the user who started the run.
        api_url: the URL of the REST API, without a slash at its end; on a GitHub Enterprise Server its own.
        graphql_url: the URL of the GraphQL API, likewise.
        server_url: the URL of the web pages, likewise.
        workspace: the folder that the repository is checked out in.
        output: the file for the step's outputs; None without one.
        summary: the file for the step's summary; None without one.
        is_approved: whether someone with write access approved the commit, so that the run may use keys.
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
    is_approved: bool = False

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


def read_github_job(environ: Mapping[str, str]) -> GitHubJob | None:
    """The job that this process runs in; None outside of jobs."""
    repository = environ.get("GITHUB_REPOSITORY", "")
    if environ.get("GITHUB_ACTIONS") != "true" or not _REPOSITORY.fullmatch(repository):
        return None
    try:
        payload = parse_json(Path(environ["GITHUB_EVENT_PATH"]).read_bytes())
    except (KeyError, OSError, ValueError):
        payload = {}
    urls = ("api_url", "graphql_url", "server_url")
    addresses = {name: environ.get(f"GITHUB_{name.upper()}", "").rstrip("/") for name in urls}
    texts = ("event_name", "sha", "ref_name", "workflow", "job", "actor")
    return GitHubJob(
        repository=repository,
        event=payload if isinstance(payload, dict) else {},
        run_id=_number(environ, "GITHUB_RUN_ID", default=0),
        run_attempt=_number(environ, "GITHUB_RUN_ATTEMPT", default=1),
        workspace=_path(environ, "GITHUB_WORKSPACE"),
        output=_path(environ, "GITHUB_OUTPUT"),
        summary=_path(environ, "GITHUB_STEP_SUMMARY"),
        is_approved=False,
        **{name: environ.get(f"GITHUB_{name.upper()}", "") for name in texts},
        **{name: address for name, address in addresses.items() if address},
    )


def make_slug(key: str) -> str:
    """A key in a form that is allowed in the names of artifacts and files, and in a comment's marker."""
    return _NOT_IN_NAMES.sub("-", key).strip("-.")[:80] or "scoregate"


def _number(environ: Mapping[str, str], name: str, *, default: int) -> int:
    text = environ.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else default


def _path(environ: Mapping[str, str], name: str) -> Path | None:
    return Path(environ[name]) if environ.get(name) else None


@record
class Connection:
    """A job's GitHub. `api` is None without a token; `key` identifies one of several uses in a repository."""

    github: GitHubJob
    api: Api | None
    key: str

    @property
    def artifact(self) -> str:
        """The name of the artifact that stores the run."""
        return f"{ARTIFACT_PREFIX}{self.key}"


ARTIFACT_PREFIX = "scoregate-"


def find_token(settings: Settings, environ: Mapping[str, str]) -> str:
    """The token in the settings or the environment; empty without one."""
    token = settings.github_token.get_secret_value() if settings.github_token else ""
    return token or environ.get("GITHUB_TOKEN", "")


@asynccontextmanager
async def open_connection(
    settings: Settings, environ: Mapping[str, str], stop: anyio.Event | None = None
) -> AsyncIterator[Connection | None]:
    """Open the job's connection until the block ends; None outside of jobs. Once `stop` is set, nothing is retried."""
    github = read_github_job(environ)
    if github is None:
        yield None
        return
    key = make_slug(settings.key or f"{github.workflow}-{github.job}")
    if not (token := find_token(settings, environ)):
        if settings.approved is not None:
            raise UsageError("without a token, `approved` can't be verified", advice="Set github-token.")
        yield Connection(github, None, key)
        return
    from scoregate.kernel.job.github.client import open_api

    async with open_api(github.api_url, github.repository, token, stop=stop) as api:
        if settings.approved is not None:
            github = await _read_approved(github, api, settings.approved)
        yield Connection(github, api, key)


def split_approved(text: str) -> tuple[int, str]:
    """The number of the pull request and the commit in `NUMBER@SHA`."""
    number, _, commit = text.partition("@")
    return int(number), commit


async def _read_approved(github: GitHubJob, api: Api, text: str) -> GitHubJob:
    """The job as a job of the approved commit's pull request.

    Raises:
        GitHubRefused: the pull request is closed, or has a newer commit.
    """
    number, commit = split_approved(text)
    request = await api.get(f"pulls/{number}")
    if text_at(request, "state") != "open":
        raise GitHubRefused(f"pull request {number} is closed", advice="Reopen it, and repeat the command.")
    if (head := text_at(request, "head", "sha")) != commit:
        raise GitHubRefused(
            f"the head of pull request {number} has moved from {commit[:7]}, which was approved, to {head[:7]}",
            advice="Review the new commits, and repeat the command.",
        )
    event = {"repository": github.event.get("repository"), "number": number, "pull_request": request}
    return replace(github, event_name=_PULL_REQUEST, event=event, sha=commit, is_approved=True)


_NO_COMMIT = "0" * 40
_PULL_REQUEST = "pull_request"
_PULL_REQUEST_EVENTS = (_PULL_REQUEST, "pull_request_target", "pull_request_review")


@record
class PullRequest:
    """A pull request. `head_repository` is None if the fork was deleted."""

    number: int
    head_sha: str
    head_repository: str | None
    base_sha: str
    base_branch: str

    def is_fork_of(self, repository: str) -> bool:
        """Whether its commits come from another repository."""
        return self.head_repository != repository


def pull_request(github: GitHubJob) -> PullRequest | None:
    """The pull request of the event; None if it has none."""
    if github.event_name not in _PULL_REQUEST_EVENTS or not isinstance(
        request := github.event.get("pull_request"), dict
    ):
        return None
    return read_pull_request(request)


def read_pull_request(request: Mapping[str, Any]) -> PullRequest:
    """A pull request as the API and events describe it.

    Raises:
        GitHubRefused: a field is missing.
    """
    repository = (
        text_at(request, "head", "repo", "full_name") if _table_at(_table_at(request, "head"), "repo") else None
    )
    return PullRequest(
        number_at(request, "number"),
        text_at(request, "head", "sha"),
        repository,
        text_at(request, "base", "sha"),
        text_at(request, "base", "ref"),
    )


def head_sha(github: GitHubJob) -> str:
    """The commit that reports belong to: the head of the pull request, never the merge commit."""
    if (request := pull_request(github)) is not None:
        return request.head_sha
    if github.event_name == "merge_group":
        return str(_event_table(github, "merge_group").get("head_sha") or github.sha)
    return github.sha


def head_branch(github: GitHubJob) -> str:
    """The branch whose commit is run."""
    if pull_request(github) is not None:
        head = _table_at(_event_table(github, "pull_request"), "head")
        return str(head.get("ref") or github.ref_name)
    return github.ref_name


def default_branch(github: GitHubJob) -> str:
    """The repository's default branch, from the event; scheduled jobs run there."""
    assumed = github.ref_name if github.event_name == "schedule" else ""
    return str(_event_table(github, "repository").get("default_branch") or assumed or "main")


def merge_group_base(github: GitHubJob) -> tuple[str, str] | None:
    """The base commit of a merge queue's group, and its branch; None for other events."""
    group = _event_table(github, "merge_group")
    if github.event_name != "merge_group" or not group.get("base_sha"):
        return None
    return str(group["base_sha"]), str(group.get("base_ref") or "").removeprefix("refs/heads/")


def commit_before_push(github: GitHubJob) -> str | None:
    """The commit of the branch before a push; None for a new branch and other events."""
    before = github.event.get("before") if github.event_name == "push" else None
    return before if isinstance(before, str) and before != _NO_COMMIT else None


def is_read_only(github: GitHubJob) -> bool:
    """Whether the event is a fork's or Dependabot's: then the token is read-only, and there are no secrets."""
    request = pull_request(github)
    if request is None or github.event_name == "pull_request_target" or github.is_approved:
        return False
    return request.is_fork_of(github.repository) or github.actor == "dependabot[bot]"


def _event_table(github: GitHubJob, name: str) -> Mapping[str, Any]:
    return _table_at(github.event, name)


def _table_at(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = table.get(name)
    return value if isinstance(value, dict) else {}


@record
class MeasuredCommit:
    """The commit that is measured, and the run that measures it.

    Args:
        commit: the head commit, never a merge commit.
        branch: its branch.
        run: the id of the workflow's run with its attempt.
        run_url: the page of that run.
        request: the pull request that it belongs to.
        read_only: the token can't write; a later job with more rights comments.
        measured_here: whether this run of the workflow measured it; else it publishes the results of another run.
    """

    commit: str
    branch: str
    run: str
    run_url: str
    request: PullRequest | None = None
    read_only: bool = False
    measured_here: bool = True


def make_measured_commit(github: GitHubJob) -> MeasuredCommit:
    """The commit that the job itself measures."""
    return MeasuredCommit(
        commit=head_sha(github),
        branch=head_branch(github),
        run=github.run,
        run_url=github.run_url,
        request=pull_request(github),
        read_only=is_read_only(github),
    )


_ADVICE = (
    "Such a job has a token that can write, and secrets, and the author of the pull request could steal them. Run "
    "suites on `pull_request`, and comment from a second workflow on `workflow_run` with `command: publish`: see "
    "docs/guides/pull_requests.md."
)


def refuse_fork_code(github: GitHubJob, head: str | None) -> None:
    """Refuse a fork's code in a job with write access: on a fork's event, only the job's own commit is allowed.

    The fork's branch may have new commits since the event, so its commits can't be recognised by their hashes.

    Args:
        github: the job.
        head: the commit that is checked out; None outside a repository.

    Raises:
        UsageError: a fork's commit is checked out, on an event that gives jobs the rights of this repository.
    """
    if _is_fork_commit(github, head):
        raise UsageError(f"a fork's commit is checked out in a job on {github.event_name}", advice=_ADVICE)


def _is_fork_commit(github: GitHubJob, head: str | None) -> bool:
    if head is None or head == github.sha:
        return False
    if github.event_name == "pull_request_target":
        request = pull_request(github)
        return request is not None and request.is_fork_of(github.repository)
    if github.event_name == "workflow_run":
        run = github.event.get("workflow_run")
        repository = run.get("head_repository") if isinstance(run, dict) else None
        name = repository.get("full_name") if isinstance(repository, dict) else None
        return bool(name != github.repository)
    return False
