"""Pull requests and the repositories they belong to."""

from __future__ import annotations

from typing import Any

from tests.fakes.github import show
from tests.fakes.github.endpoints import labels
from tests.fakes.github.exchange import Answer, Call, Refused
from tests.fakes.github.model import Pull, stamp
from tests.fakes.github.paging import listed
from tests.fakes.github.repository import Repository

LINKS = ("self", "html", "issue", "comments", "review_comments", "review_comment", "commits", "statuses")


def get_repository(call: Call) -> Answer:
    return Answer(show.repository(call.repo))


def list_pulls(call: Call) -> Answer:
    state, head, base = (call.query.get(name) for name in ("state", "head", "base"))
    found = [pull for pull in reversed(call.repo.pulls.values()) if state == "all" or pull.state == (state or "open")]
    if head and ":" in head:  # GitHub ignores a head without an owner
        found = [pull for pull in found if head == label(pull.head_repository, pull.head_ref)]
    return listed(call, [shown(pull) for pull in found if base in (None, pull.base_ref)])


def get_pull(call: Call) -> Answer:
    pull = call.repo.pulls.get(int(call.path["pull_number"]))
    if pull is None:
        raise Refused(404, "Not Found")
    return Answer(shown_whole(pull))


def shown(pull: Pull) -> dict[str, Any]:
    """A pull request as a list shows it."""
    github, repo = pull.repository.github, pull.repository
    api, web = f"{show.api_of(repo)}/pulls/{pull.number}", f"{show.web_of(repo)}/pull/{pull.number}"
    issue = f"{show.api_of(repo)}/issues/{pull.number}"
    closed = stamp(pull.created_at) if pull.state == "closed" else None
    urls = (
        api,
        web,
        issue,
        f"{issue}/comments",
        f"{api}/comments",
        f"{api}/comment",
        f"{api}/commits",
        f"{api}/statuses",
    )
    return {
        "id": pull.id,
        "node_id": show.node("PR", pull.id),
        "number": pull.number,
        "state": pull.state,
        "locked": pull.locked,
        "title": pull.title,
        "body": None,
        "user": show.user(github, pull.login),
        "head": end(pull.head_repository, pull.head_ref, pull.head_sha),
        "base": end(repo, pull.base_ref, pull.base_sha),
        "merge_commit_sha": pull.merge_sha if pull.state == "open" else None,
        "url": api,
        "diff_url": f"{web}.diff",
        "patch_url": f"{web}.patch",
        **{f"{name}_url": url for name, url in zip(LINKS[1:], urls[1:], strict=True)},
        "_links": {name: {"href": url} for name, url in zip(LINKS, urls, strict=True)},
        "created_at": stamp(pull.created_at),
        "updated_at": stamp(pull.created_at),
        "closed_at": closed,
        "merged_at": closed if pull.merged else None,
        **dict.fromkeys(("assignee", "milestone", "auto_merge", "active_lock_reason")),
        **{name: [] for name in ("assignees", "requested_reviewers", "requested_teams")},
        "labels": [labels.shown(repo, name) for name in pull.labels],
        "author_association": "NONE",
        "draft": False,
    }


def shown_whole(pull: Pull) -> dict[str, Any]:
    """A pull request as its own address shows it."""
    is_open = pull.state == "open"
    return {
        **shown(pull),
        "merged": pull.merged,
        "mergeable": True if is_open else None,
        "mergeable_state": "clean" if is_open else "unknown",
        "merged_by": None,
        "maintainer_can_modify": False,
        "comments": len(pull.comments),
        **dict.fromkeys(("review_comments", "additions", "deletions"), 0),
        **dict.fromkeys(("commits", "changed_files"), 1),
    }


def end(repo: Repository, ref: str, sha: str) -> dict[str, Any]:
    owner = show.user(repo.github, repo.owner)
    return {"label": label(repo, ref), "ref": ref, "sha": sha, "user": owner, "repo": show.repository(repo)}


def label(repo: Repository, ref: str) -> str:
    return f"{repo.owner}:{ref}"
