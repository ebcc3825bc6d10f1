"""Issues that are no pull requests: list, create, update."""

from __future__ import annotations

from typing import Any

from tests.fakes.github import show
from tests.fakes.github.exchange import Answer, Call, Refused
from tests.fakes.github.issues import Issue, open_issue
from tests.fakes.github.model import now, stamp
from tests.fakes.github.paging import listed

LONGEST_BODY = 65_536


def list_issues(call: Call) -> Answer:
    state, creator = call.query.get("state", "open"), call.query.get("creator")
    found = [each for each in reversed(call.repo.issues.values()) if state in ("all", each.state)]
    return listed(call, [shown(call, each) for each in found if creator in (None, each.login)])


def create_issue(call: Call) -> Answer:
    made = open_issue(call.repo, checked_title(call), checked_body(call), call.token.login)
    return Answer(shown(call, made), 201)


def update_issue(call: Call) -> Answer:
    issue = call.repo.issues.get(int(call.path["issue_number"]))
    if issue is None:
        raise Refused(404, "Not Found")
    if "title" in call.body:
        issue.title = checked_title(call)
    if "body" in call.body:
        issue.body = checked_body(call)
    issue.state = call.body.get("state", issue.state)
    issue.state_reason = call.body.get("state_reason", issue.state_reason)
    issue.updated_at = now()
    return Answer(shown(call, issue))


def checked_title(call: Call) -> str:
    if not call.body["title"].strip() or len(call.body["title"]) > 256:
        raise Refused(422, "Validation Failed", [{"resource": "Issue", "code": "invalid", "field": "title"}])
    return str(call.body["title"])


def checked_body(call: Call) -> str:
    if len(call.body.get("body") or "") > LONGEST_BODY:
        raise Refused(422, "Validation Failed", [{"resource": "Issue", "code": "invalid", "field": "body"}])
    return call.body.get("body") or ""


def shown(call: Call, issue: Issue) -> dict[str, Any]:
    api, web = f"{show.api_of(call.repo)}/issues/{issue.number}", f"{show.web_of(call.repo)}/issues/{issue.number}"
    return {
        "id": issue.id,
        "node_id": show.node("I", issue.id),
        "url": api,
        "repository_url": show.api_of(call.repo),
        "labels_url": f"{api}/labels{{/name}}",
        "comments_url": f"{api}/comments",
        "events_url": f"{api}/events",
        "html_url": web,
        "number": issue.number,
        "state": issue.state,
        "state_reason": issue.state_reason,
        "title": issue.title,
        "body": issue.body,
        "user": show.user(call.github, issue.login),
        "labels": [],
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "locked": False,
        "comments": 0,
        "closed_at": stamp(issue.updated_at) if issue.state == "closed" else None,
        "created_at": stamp(issue.created_at),
        "updated_at": stamp(issue.updated_at),
        "author_association": "NONE",
    }
