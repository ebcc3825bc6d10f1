"""Events as a runner hands them to a workflow: GitHub's own examples, for a repository on the fake."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from tests.fakes.github import show
from tests.fakes.github.actions import Run
from tests.fakes.github.description import MODULES
from tests.fakes.github.endpoints.pulls import shown_whole
from tests.fakes.github.endpoints.workflow import shown_run
from tests.fakes.github.model import Comment, Pull, stamp
from tests.fakes.github.repository import Repository

EXAMPLES = MODULES / "@octokit" / "webhooks-examples" / "api.github.com" / "index.json"
NOWHERE = "0" * 40
EXAMPLE_NAMES = ("Codertocat/Hello-World", "octo-org/octo-repo", "Octocoders/Hello-World")
Payload = dict[str, Any]


@dataclass(frozen=True)
class Event:
    """An event, and the commit and ref that its workflow runs on."""

    name: str
    payload: Payload
    repository: Repository
    sha: str
    ref: str
    head_ref: str = ""
    base_ref: str = ""
    actor: str = "octocat"

    def environment(self, folder: Path, run: Run | None = None) -> dict[str, str]:
        """Write the payload into the folder; returns a runner's variables for the event (and for a run)."""
        path = folder / "event.json"
        path.write_text(json.dumps(self.payload), encoding="utf-8")
        ran = {} if run is None else run_environment(run)
        return {
            **self.repository.github.environment,
            **ran,
            "GITHUB_EVENT_NAME": self.name,
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_SHA": self.sha,
            "GITHUB_REF": self.ref,
            "GITHUB_REF_NAME": self.ref.removeprefix("refs/heads/").removeprefix("refs/pull/"),
            "GITHUB_HEAD_REF": self.head_ref,
            "GITHUB_BASE_REF": self.base_ref,
            "GITHUB_REPOSITORY": self.repository.full_name,
            "GITHUB_REPOSITORY_OWNER": self.repository.owner,
            "GITHUB_REPOSITORY_ID": str(self.repository.id),
            "GITHUB_ACTOR": self.actor,
        }


def run_environment(run: Run) -> dict[str, str]:
    return {
        "GITHUB_RUN_ID": str(run.id),
        "GITHUB_RUN_ATTEMPT": str(run.run_attempt),
        "GITHUB_RUN_NUMBER": "1",
        "GITHUB_WORKFLOW": run.name,
        "GITHUB_WORKFLOW_REF": f"{run.repository.full_name}/{run.path}@refs/heads/{run.head_branch}",
    }


def pull_request(pull: Pull, action: str = "synchronize", *, name: str = "pull_request") -> Event:
    """A pull request was opened or pushed to; also as "pull_request_target"."""
    repo = pull.repository
    payload = adapted("pull_request", action, repo)
    changed = {"before": NOWHERE, "after": pull.head_sha} if action == "synchronize" else {}
    payload |= changed | {"action": action, "number": pull.number, "sender": show.user(repo.github, pull.login)}
    payload["pull_request"] = payload.get("pull_request", {}) | shown_whole(pull)
    ref, sha = f"refs/pull/{pull.number}/merge", pull.merge_sha
    if name == "pull_request_target":
        ref, sha = f"refs/heads/{repo.default_branch}", repo.branch(repo.default_branch)
    return Event(name, payload, repo, sha, ref, pull.head_ref, pull.base_ref, pull.login)


def labeled(pull: Pull, name: str, login: str = "octocat") -> Event:
    """A label was set; the job runs on the merge commit, as for a push to the branch."""
    event = pull_request(pull, "labeled")
    payload = {"label": {"name": name}, "sender": show.user(pull.repository.github, login)}
    return replace(event, payload={**event.payload, **payload}, actor=login)


def issue_comment(repo: Repository, comment: Comment, action: str = "created") -> Event:
    """A comment on a pull request; the job runs on the default branch, with a token that may write."""
    payload = adapted("issue_comment", action, repo) | {
        "action": action,
        "sender": show.user(repo.github, comment.login),
    }
    number, ref = comment.issue, f"refs/heads/{repo.default_branch}"
    issue = {"number": number, "state": "open"}
    if number in repo.pulls:
        issue["pull_request"] = {"url": f"{show.api_of(repo)}/pulls/{number}"}
    body = {"id": comment.id, "body": comment.body, "user": show.user(repo.github, comment.login)}
    payload["issue"] = payload.get("issue", {}) | issue
    payload["comment"] = payload.get("comment", {}) | body
    return Event("issue_comment", payload, repo, repo.branch(repo.default_branch), ref, actor=comment.login)


def push(repo: Repository, branch: str = "main", *, before: str | None = None, forced: bool = False) -> Event:
    """The branch was pushed to; `before` is by default the first parent of its tip, or zeros for a first commit."""
    ref, tip = f"refs/heads/{branch}", repo.objects.commits[repo.branch(branch)]
    old = before or (tip.parents[0] if tip.parents else NOWHERE)
    person = {"name": tip.author, "email": tip.email}
    head = {"id": tip.sha, "tree_id": tip.tree, "message": tip.message, "timestamp": stamp(tip.date), "author": person}
    payload = adapted("push", None, repo) | {"ref": ref, "before": old, "after": tip.sha, "forced": forced}
    payload |= {"created": old == NOWHERE, "deleted": False, "base_ref": None, "commits": [head], "head_commit": head}
    payload |= {"pusher": person, "compare": f"{show.web_of(repo)}/compare/{old}...{tip.sha}"}
    return Event("push", payload, repo, tip.sha, ref)


def merge_group(pull: Pull) -> Event:
    """The pull request entered the merge queue: its merge with the base's tip, on a branch of the queue's own."""
    repo, base = pull.repository, pull.repository.branch(pull.base_ref)
    name = f"gh-readonly-queue/{pull.base_ref}/pr-{pull.number}-{base}"
    sha = repo.refs[f"refs/heads/{name}"] = pull.merge_sha
    payload = adapted("merge_group", "checks_requested", repo) | {"action": "checks_requested"}
    group = {
        "head_sha": sha,
        "head_ref": f"refs/heads/{name}",
        "base_sha": base,
        "base_ref": f"refs/heads/{pull.base_ref}",
    }
    payload["merge_group"] = payload.get("merge_group", {}) | group
    return Event("merge_group", payload, repo, sha, f"refs/heads/{name}")


def workflow_run(run: Run, action: str = "completed") -> Event:
    """A workflow ended; workflows that wait for it run on the default branch, with a token that may write."""
    repo = run.repository
    payload = adapted("workflow_run", action, repo) | {"action": action}
    payload["workflow_run"] = payload.get("workflow_run", {}) | shown_run(run)
    payload["workflow"] = payload.get("workflow", {}) | {"name": run.name, "path": run.path}
    return Event("workflow_run", payload, repo, repo.branch(repo.default_branch), f"refs/heads/{repo.default_branch}")


def schedule(repo: Repository, cron: str = "0 3 * * *") -> Event:
    """The clock started a workflow on the default branch."""
    ref = f"refs/heads/{repo.default_branch}"
    return Event("schedule", {"schedule": cron}, repo, repo.branch(repo.default_branch), ref)


def workflow_dispatch(repo: Repository, branch: str = "main") -> Event:
    """A workflow was started manually."""
    payload = adapted("workflow_dispatch", None, repo) | {"inputs": {}, "ref": f"refs/heads/{branch}"}
    return Event("workflow_dispatch", payload, repo, repo.branch(branch), f"refs/heads/{branch}")


def adapted(name: str, action: str | None, repo: Repository) -> Payload:
    """GitHub's example of an event, as if it had happened here; without npm only what is true of any event."""
    text = example(name, action)
    for known in EXAMPLE_NAMES:
        text = text.replace(known, repo.full_name)
    text = text.replace("https://api.github.com", repo.github.url).replace("https://github.com", repo.github.server_url)
    people = {"sender": show.user(repo.github, "octocat")}
    return {**json.loads(text), **people, "repository": show.repository(repo)}


@cache
def example(name: str, action: str | None) -> str:
    """The first example of an event, of this action if there is one."""
    if not EXAMPLES.is_file():
        return "{}"
    events = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    found = next(event["examples"] for event in events if event["name"] == name)
    chosen = next((payload for payload in found if payload.get("action") == action), found[0])
    return json.dumps({key: value for key, value in chosen.items() if key not in ("organization", "installation")})
