"""Commits as the web shows them: lists, single ones, and two compared."""

from __future__ import annotations

from typing import Any

from tests.fakes.github import show
from tests.fakes.github.endpoints.find import commit_at, network
from tests.fakes.github.exchange import Answer, Call, Refused
from tests.fakes.github.history import ancestors, log, merge_base
from tests.fakes.github.model import stamp
from tests.fakes.github.objects import Commit
from tests.fakes.github.paging import page_of

MOST_COMPARED = 250


def list_commits(call: Call) -> Answer:
    tip = network(call, call.query.get("sha", call.repo.default_branch))
    found = log(call.repo.objects, tip.sha)
    if "path" in call.query:
        raise Refused(501, "The fake does not filter commits by path.")
    since, until = call.query.get("since", ""), call.query.get("until", "9")
    dated = [commit for commit in found if since <= (stamp(commit.date) or "") <= until]
    items, headers = page_of(call, dated)
    return Answer([shown(call, commit) for commit in items], headers=headers)


def get_commit(call: Call) -> Answer:
    commit = commit_at(call.repo, call.path["ref"])
    if call.headers.get("accept") == "application/vnd.github.sha":
        return Answer(commit.sha.encode())
    return Answer({**shown(call, commit), "stats": {"additions": 0, "deletions": 0, "total": 0}, "files": []})


def compare(call: Call) -> Answer:
    names = call.path["basehead"].split("...")
    if len(names) != 2:
        raise Refused(404, "Not Found")
    base, head = (network(call, name) for name in names)
    objects = call.repo.objects
    common = merge_base(objects, base.sha, head.sha)
    if common is None:
        raise Refused(404, f"No common ancestor between {names[0]} and {names[1]}.")
    ahead = log(objects, head.sha, without=ancestors(objects, base.sha))[::-1]
    behind = len(ancestors(objects, base.sha) - ancestors(objects, head.sha))
    items, headers = page_of(call, ahead, MOST_COMPARED)
    url, web = f"{show.api_of(call.repo)}/compare/{call.path['basehead']}", show.web_of(call.repo)
    comparison = {
        "url": url,
        **{f"{name}_url": f"{web}/compare/{call.path['basehead']}" for name in ("html", "permalink", "diff", "patch")},
        "base_commit": shown(call, base),
        "merge_base_commit": shown(call, objects.commits[common]),
        "status": {(0, 0): "identical", (1, 0): "ahead", (0, 1): "behind"}.get((bool(ahead), bool(behind)), "diverged"),
        "ahead_by": len(ahead),
        "behind_by": behind,
        "total_commits": len(ahead),
        "commits": [shown(call, commit) for commit in items],
        "files": changed_files(call, objects.commits[common], head),
    }
    return Answer(comparison, headers=headers)


MOST_FILES = 300


def changed_files(call: Call, base: Commit, head: Commit) -> list[dict[str, Any]]:
    """The files that differ between two commits, without what they say."""
    before, after = (call.repo.objects.files(commit.tree) for commit in (base, head))
    paths = sorted(path for path in {**before, **after} if before.get(path) != after.get(path))
    api, web = show.api_of(call.repo), show.web_of(call.repo)
    return [
        {
            "sha": (after.get(path) or before[path]).sha,
            "filename": path,
            "status": "added" if path not in before else "modified" if path in after else "removed",
            **dict.fromkeys(("additions", "deletions", "changes"), 0),
            "blob_url": f"{web}/blob/{head.sha}/{path}",
            "raw_url": f"{web}/raw/{head.sha}/{path}",
            "contents_url": f"{api}/contents/{path}?ref={head.sha}",
        }
        for path in paths[:MOST_FILES]
    ]


def shown(call: Call, commit: Commit) -> dict[str, Any]:
    api, web = show.api_of(call.repo), show.web_of(call.repo)
    url, person = f"{api}/commits/{commit.sha}", signature(commit)
    return {
        "url": url,
        "sha": commit.sha,
        "node_id": show.node("C", commit.sha),
        "html_url": f"{web}/commit/{commit.sha}",
        "comments_url": f"{url}/comments",
        "commit": {
            "url": f"{api}/git/commits/{commit.sha}",
            "author": person,
            "committer": person,
            "message": commit.message,
            "tree": {"sha": commit.tree, "url": f"{api}/git/trees/{commit.tree}"},
            "comment_count": 0,
            "verification": unverified(),
        },
        "author": show.user(call.github, commit.author),
        "committer": show.user(call.github, commit.author),
        "parents": parents(call, commit),
    }


def signature(commit: Commit) -> dict[str, str | None]:
    return {"name": commit.author, "email": commit.email, "date": stamp(commit.date)}


def unverified() -> dict[str, Any]:
    unset = dict.fromkeys(("signature", "payload", "verified_at"))
    return {"verified": False, "reason": "unsigned", **unset}


def parents(call: Call, commit: Commit) -> list[dict[str, str]]:
    api, web = show.api_of(call.repo), show.web_of(call.repo)
    return [{"sha": sha, "url": f"{api}/commits/{sha}", "html_url": f"{web}/commit/{sha}"} for sha in commit.parents]
