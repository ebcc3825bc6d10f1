"""People, repositories and apps as GitHub shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

from tests.fakes.github.identity import ACTIONS_APP

if TYPE_CHECKING:
    from tests.fakes.github.repository import Repository
    from tests.fakes.github.server import GitHub

Shown = dict[str, Any]
BEGINNING = "2020-01-01T00:00:00Z"
USER_LINKS = (
    "events", "followers", "following", "gists", "organizations", "received_events", "repos", "starred",
    "subscriptions",
)  # fmt: skip
REPOSITORY_LINKS = (
    "archive", "assignees", "blobs", "branches", "collaborators", "comments", "commits", "compare", "contents",
    "contributors", "deployments", "downloads", "events", "forks", "git_commits", "git_refs", "git_tags", "hooks",
    "issue_comment", "issue_events", "issues", "keys", "labels", "languages", "merges", "milestones",
    "notifications", "pulls", "releases", "stargazers", "statuses", "subscribers", "subscription", "tags", "teams",
    "trees",
)  # fmt: skip
COUNTS = (
    "forks", "forks_count", "open_issues", "open_issues_count", "size", "stargazers_count", "watchers",
    "watchers_count", "network_count", "subscribers_count",
)  # fmt: skip
FEATURES = ("issues", "projects", "wiki", "pages", "downloads", "discussions")


def node(kind: str, number: object) -> str:
    return f"{kind}_{number}"


def user(github: GitHub, login: str) -> Shown:
    number = 41898282 if login == "github-actions[bot]" else crc32(login.encode())
    api = f"{github.url}/users/{login}"
    return {
        "login": login,
        "id": number,
        "node_id": node("U", number),
        "avatar_url": f"{github.server_url}/avatars/{number}",
        "gravatar_id": "",
        "url": api,
        "html_url": f"{github.server_url}/{login.replace('[bot]', '')}",
        **{f"{name}_url": f"{api}/{name}" for name in USER_LINKS},
        "type": "Bot" if login.endswith("[bot]") else "User",
        "site_admin": False,
    }


def repository(repo: Repository) -> Shown:
    """A repository with every field that its long form needs."""
    api, web = api_of(repo), web_of(repo)
    return {
        "id": repo.id,
        "node_id": node("R", repo.id),
        "name": repo.name,
        "full_name": repo.full_name,
        "private": repo.private,
        "visibility": "private" if repo.private else "public",
        "owner": user(repo.github, repo.owner),
        "html_url": web,
        "description": None,
        "fork": repo.parent is not None,
        "url": api,
        **{f"{name}_url": f"{api}/{name}" for name in REPOSITORY_LINKS},
        **{f"{name}_url": f"{web}.git" for name in ("clone", "git", "ssh", "svn")},
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "default_branch": repo.default_branch,
        "archived": False,
        "disabled": False,
        **{f"has_{name}": name == "issues" for name in FEATURES},
        **dict.fromkeys(COUNTS, 0),
        "created_at": BEGINNING,
        "updated_at": BEGINNING,
        "pushed_at": BEGINNING,
    }


def app(github: GitHub, slug: str) -> Shown:
    return {
        "id": app_id(slug),
        "slug": slug,
        "node_id": node("A", slug),
        "owner": user(github, "github"),
        "name": slug.replace("-", " ").title(),
        "description": "",
        "external_url": f"{github.server_url}/apps/{slug}",
        "html_url": f"{github.server_url}/apps/{slug}",
        "created_at": BEGINNING,
        "updated_at": BEGINNING,
        "permissions": {},
        "events": [],
    }


def app_id(slug: str) -> int:
    return ACTIONS_APP if slug == "github-actions" else crc32(slug.encode())


def api_of(repo: Repository) -> str:
    return f"{repo.github.url}/repos/{repo.full_name}"


def web_of(repo: Repository) -> str:
    return f"{repo.github.server_url}/{repo.full_name}"
