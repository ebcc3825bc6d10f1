"""Comments on issues and pull requests."""

from __future__ import annotations

from typing import Any

from tests.fakes.github import show
from tests.fakes.github.exchange import Answer, Call, Refused
from tests.fakes.github.model import Comment, Pull, now, stamp
from tests.fakes.github.paging import listed

LONGEST_BODY = 65_536


def list_comments(call: Call) -> Answer:
    pull = pull_of(call)
    since = call.query.get("since", "")
    found = [shown(call, comment) for comment in pull.comments]
    return listed(call, [comment for comment in found if comment["updated_at"] >= since])


def create_comment(call: Call) -> Answer:
    pull = pull_of(call)
    if pull.locked:
        raise Refused(403, "Unable to create comment because issue is locked.")
    made = pull.comment(checked(call.body["body"]), call.token.login)
    return Answer(shown(call, made), 201)


def get_comment(call: Call) -> Answer:
    return Answer(shown(call, comment_of(call)))


def update_comment(call: Call) -> Answer:
    comment = comment_of(call)
    comment.body, comment.updated_at = checked(call.body["body"]), now()
    return Answer(shown(call, comment))


def delete_comment(call: Call) -> Answer:
    del call.repo.comments[comment_of(call).id]
    return Answer(status=204)


def react(call: Call) -> Answer:
    """A reaction, once for each user and kind."""
    comment, mine = comment_of(call), (call.token.login, call.body["content"])
    status = 200 if mine in comment.reactions else 201
    comment.reactions += [mine] if status == 201 else []
    number = comment.id * 10 + len(comment.reactions)
    made = {"id": number, "node_id": show.node("REA", number), "user": show.user(call.github, mine[0])}
    return Answer({**made, "content": mine[1], "created_at": stamp(now())}, status)


def pull_of(call: Call) -> Pull:
    pull = call.repo.pulls.get(int(call.path["issue_number"]))
    if pull is None:
        raise Refused(404, "Not Found")
    if pull.gone:
        raise Refused(410, "This issue was deleted")
    return pull


def comment_of(call: Call) -> Comment:
    comment = call.repo.comments.get(int(call.path["comment_id"]))
    if comment is None:
        raise Refused(404, "Not Found")
    return comment


def checked(body: str) -> str:
    complaint = {"resource": "IssueComment", "code": "unprocessable", "field": "data"}
    if not body.strip():
        raise Refused(422, "Validation Failed", [{**complaint, "message": "Body cannot be blank"}])
    if len(body) > LONGEST_BODY:
        message = f"Body is too long (maximum is {LONGEST_BODY} characters)"
        raise Refused(422, f"Validation Failed: {message}", [{**complaint, "message": message}])
    return body


def shown(call: Call, comment: Comment) -> dict[str, Any]:
    api, web, login = show.api_of(call.repo), show.web_of(call.repo), comment.login
    return {
        "id": comment.id,
        "node_id": show.node("IC", comment.id),
        "url": f"{api}/issues/comments/{comment.id}",
        "html_url": f"{web}/pull/{comment.issue}#issuecomment-{comment.id}",
        "issue_url": f"{api}/issues/{comment.issue}",
        "body": comment.body,
        "user": show.user(call.github, login),
        "created_at": stamp(comment.created_at),
        "updated_at": stamp(comment.updated_at),
        "author_association": "NONE",
        "performed_via_github_app": show.app(call.github, login[:-5]) if login.endswith("[bot]") else None,
    }
