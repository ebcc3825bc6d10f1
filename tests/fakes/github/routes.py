"""The table of what the fake serves: method, path as GitHub describes it, handler, and what it needs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fakes.github.endpoints import (
    account,
    checks,
    comments,
    commits,
    git_objects,
    issues,
    labels,
    pulls,
    refs,
    workflow,
)
from tests.fakes.github.endpoints.find import not_empty
from tests.fakes.github.exchange import Answer, Call

REPO = "/repos/{owner}/{repo}"
WHOLE_REST = {"basehead", "ref"}


@dataclass(frozen=True)
class Route:
    """`needs` is a level and the areas of which one must have it; `strict`: a public repository asks for it too."""

    method: str
    template: str
    handler: Callable[[Call], Answer]
    level: str = ""
    areas: tuple[str, ...] = ()
    strict: bool = False

    @property
    def operation(self) -> str:
        return f"{self.method} {self.template}"

    def match(self, path: str) -> dict[str, str] | None:
        match = pattern(self.template).fullmatch(path)
        return match.groupdict() if match else None


def pattern(template: str) -> re.Pattern[str]:
    """A template as an expression; a ref may have slashes in it."""

    def name(match: re.Match[str]) -> str:
        return f"(?P<{match[1]}>{'.+' if match[1] in WHOLE_REST else '[^/]+'})"

    return re.compile(re.sub(r"\{(\w+)\}", name, template))


def of(level: str, *areas: str, strict: bool = False) -> Callable[..., Route]:
    def route(method: str, path: str, handler: Any) -> Route:
        return Route(method, REPO + path, handler, level, areas, strict)

    return route


talk, say = of("read", "issues", "pull-requests"), of("write", "issues", "pull-requests")
look, check = of("read", "checks"), of("write", "checks")
read, write = of("read", "contents"), of("write", "contents")
runs, take = of("read", "actions"), of("read", "actions", strict=True)

ROUTES = (
    talk("GET", "/issues/{issue_number}/comments", comments.list_comments),
    say("POST", "/issues/{issue_number}/comments", comments.create_comment),
    talk("GET", "/issues/comments/{comment_id}", comments.get_comment),
    say("PATCH", "/issues/comments/{comment_id}", comments.update_comment),
    say("DELETE", "/issues/comments/{comment_id}", comments.delete_comment),
    say("POST", "/issues/comments/{comment_id}/reactions", comments.react),
    of("read", "issues")("GET", "/issues", issues.list_issues),
    of("write", "issues")("POST", "/issues", issues.create_issue),
    of("write", "issues")("PATCH", "/issues/{issue_number}", issues.update_issue),
    talk("GET", "/issues/{issue_number}/labels", labels.list_labels),
    say("DELETE", "/issues/{issue_number}/labels/{name}", labels.remove_label),
    talk("GET", "/issues/{issue_number}/events", labels.list_events),
    of("")("GET", "/collaborators/{username}/permission", labels.get_permission),
    read("GET", "/activity", labels.list_activities),
    check("POST", "/check-runs", checks.create_check_run),
    look("GET", "/check-runs/{check_run_id}", checks.get_check_run),
    check("PATCH", "/check-runs/{check_run_id}", checks.update_check_run),
    look("GET", "/check-runs/{check_run_id}/annotations", checks.list_annotations),
    look("GET", "/commits/{ref}/check-runs", checks.list_check_runs),
    of("write", "statuses")("POST", "/statuses/{sha}", checks.create_status),
    runs("GET", "/actions/runs", workflow.list_runs),
    of("write", "actions")("POST", "/actions/runs/{run_id}/rerun-failed-jobs", workflow.rerun_failed_jobs),
    runs("GET", "/actions/artifacts", workflow.list_artifacts),
    runs("GET", "/actions/artifacts/{artifact_id}", workflow.get_artifact),
    take("GET", "/actions/artifacts/{artifact_id}/{archive_format}", workflow.download),
    runs("GET", "/actions/runs/{run_id}", workflow.get_run),
    runs("GET", "/actions/runs/{run_id}/artifacts", workflow.list_run_artifacts),
    read("GET", "/git/ref/{ref}", not_empty(refs.get_ref)),
    write("POST", "/git/refs", not_empty(refs.create_ref)),
    write("PATCH", "/git/refs/{ref}", not_empty(refs.update_ref)),
    write("DELETE", "/git/refs/{ref}", not_empty(refs.delete_ref)),
    read("GET", "/git/commits/{commit_sha}", not_empty(git_objects.get_git_commit)),
    write("POST", "/git/commits", not_empty(git_objects.create_git_commit)),
    read("GET", "/git/trees/{tree_sha}", not_empty(git_objects.get_tree)),
    write("POST", "/git/trees", not_empty(git_objects.create_tree)),
    read("GET", "/git/blobs/{file_sha}", not_empty(git_objects.get_blob)),
    write("POST", "/git/blobs", not_empty(git_objects.create_blob)),
    read("GET", "/commits", not_empty(commits.list_commits)),
    read("GET", "/commits/{ref}", not_empty(commits.get_commit)),
    read("GET", "/compare/{basehead}", not_empty(commits.compare)),
    of("read", "pull-requests")("GET", "/pulls", pulls.list_pulls),
    of("read", "pull-requests")("GET", "/pulls/{pull_number}", pulls.get_pull),
    of("")("GET", "", pulls.get_repository),
    Route("GET", "/user", account.get_user),
)
GRAPHQL = Route("POST", "/graphql", account.graphql)
OPERATIONS = tuple((route.method, route.template) for route in ROUTES)
