"""Workflow runs and their artifacts; the bytes are at another host."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from zlib import crc32

from tests.fakes.github import show
from tests.fakes.github.actions import Artifact, Run
from tests.fakes.github.exchange import Answer, Call, Refused
from tests.fakes.github.model import Pull, stamp
from tests.fakes.github.paging import counted

RETENTION = timedelta(days=90)


def list_artifacts(call: Call) -> Answer:
    return newest(call, list(call.repo.artifacts.values()))


def list_run_artifacts(call: Call) -> Answer:
    return newest(call, run_of(call).artifacts)


def get_artifact(call: Call) -> Answer:
    return Answer(shown(call, artifact_of(call)))


def download(call: Call) -> Answer:
    artifact = artifact_of(call)
    if call.path["archive_format"] != "zip":
        raise Refused(404, "Not Found")
    if artifact.expired:
        raise Refused(410, "Artifact has expired")
    return Answer(status=302, headers={"location": call.github.storage.sign(artifact)})


def get_run(call: Call) -> Answer:
    return Answer(shown_run(run_of(call)))


def list_runs(call: Call) -> Answer:
    """The runs of workflows, the newest first."""
    wanted = {name: call.query.get(name) for name in ("head_sha", "event", "status")}
    wanted["head_branch"] = call.query.get("branch")
    found = [
        run
        for run in reversed(call.repo.runs.values())
        if all(value in (None, getattr(run, name)) for name, value in wanted.items())
    ]
    return counted(call, "workflow_runs", [shown_run(run) for run in found])


def rerun_failed_jobs(call: Call) -> Answer:
    """Another attempt of a run that failed."""
    run = run_of(call)
    if run.status != "completed":
        raise Refused(403, "This workflow is already running")
    if run.conclusion == "success":
        raise Refused(403, "This workflow run cannot be retried")
    run.reruns.append(call.token.login)
    run.status, run.conclusion, run.run_attempt = "queued", None, run.run_attempt + 1
    return Answer({}, 201)


def newest(call: Call, artifacts: list[Artifact]) -> Answer:
    name = call.query.get("name")
    found = [artifact for artifact in artifacts if name in (None, artifact.name)]
    found.sort(key=lambda artifact: (artifact.created_at, artifact.id), reverse=True)
    return counted(call, "artifacts", [shown(call, artifact) for artifact in found])


def artifact_of(call: Call) -> Artifact:
    artifact = call.repo.artifacts.get(int(call.path["artifact_id"]))
    if artifact is None:
        raise Refused(404, "Not Found")
    return artifact


def run_of(call: Call) -> Run:
    run = call.repo.runs.get(int(call.path["run_id"]))
    if run is None:
        raise Refused(404, "Not Found")
    return run


def shown(call: Call, artifact: Artifact) -> dict[str, Any]:
    url, run = f"{show.api_of(call.repo)}/actions/artifacts/{artifact.id}", artifact.run
    return {
        "id": artifact.id,
        "node_id": show.node("MDg6QXJ0aWZhY3Q", artifact.id),
        "name": artifact.name,
        "size_in_bytes": len(artifact.content),
        "url": url,
        "archive_download_url": f"{url}/zip",
        "expired": artifact.expired,
        "digest": artifact.digest,
        "created_at": stamp(artifact.created_at),
        "updated_at": stamp(artifact.created_at),
        "expires_at": stamp(artifact.created_at + RETENTION),
        "workflow_run": {
            "id": run.id,
            "repository_id": run.repository.id,
            "head_repository_id": run.head_repository.id,
            "head_branch": run.head_branch,
            "head_sha": run.head_sha,
        },
    }


def is_of(run: Run, pull: Pull) -> bool:
    """GitHub names the pull requests of a run, but never those of a fork's."""
    own = run.head_repository is run.repository is pull.head_repository
    return own and pull.state == "open" and pull.head_ref == run.head_branch


def minimal(pull: Pull) -> dict[str, Any]:
    repo = pull.repository
    short = {"id": repo.id, "url": show.api_of(repo), "name": repo.name}
    return {
        "id": pull.id,
        "number": pull.number,
        "url": f"{show.api_of(repo)}/pulls/{pull.number}",
        "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": short},
        "base": {"ref": pull.base_ref, "sha": pull.base_sha, "repo": short},
    }


def shown_run(run: Run) -> dict[str, Any]:
    repo, github = run.repository, run.repository.github
    url = f"{show.api_of(repo)}/actions/runs/{run.id}"
    commit = repo.objects.commits[run.head_sha]
    person = {"name": commit.author, "email": commit.email}
    actor, started = show.user(github, run.login), stamp(run.created_at)
    return {
        "id": run.id,
        "node_id": show.node("WFR", run.id),
        **{
            name: getattr(run, name)
            for name in ("name", "path", "event", "status", "conclusion", "head_sha", "head_branch")
        },
        "display_title": commit.message,
        "run_number": 1,
        "run_attempt": run.run_attempt,
        "workflow_id": crc32(run.path.encode()),
        "url": url,
        "html_url": f"{show.web_of(repo)}/actions/runs/{run.id}",
        **{
            f"{name}_url": f"{url}/{name}"
            for name in ("jobs", "logs", "check_suite", "artifacts", "cancel", "rerun", "workflow")
        },
        "previous_attempt_url": None,
        "pull_requests": [minimal(pull) for pull in repo.pulls.values() if is_of(run, pull)],
        **dict.fromkeys(("created_at", "updated_at", "run_started_at"), started),
        "actor": actor,
        "triggering_actor": actor,
        "head_commit": {
            "id": commit.sha,
            "tree_id": commit.tree,
            "message": commit.message,
            "timestamp": stamp(commit.date),
            "author": person,
            "committer": person,
        },
        "repository": show.repository(repo),
        "head_repository": show.repository(run.head_repository),
    }
