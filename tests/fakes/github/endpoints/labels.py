"""Labels of pull requests: which there are, who set them and when, and who may write."""

from __future__ import annotations

from zlib import crc32

from tests.fakes.github import show
from tests.fakes.github.endpoints.comments import pull_of
from tests.fakes.github.exchange import Answer, Call, Refused
from tests.fakes.github.model import stamp
from tests.fakes.github.paging import listed
from tests.fakes.github.repository import Repository

_LEVELS = {"maintain": "write", "triage": "read"}


def list_labels(call: Call) -> Answer:
    return listed(call, [shown(call.repo, name) for name in pull_of(call).labels])


def remove_label(call: Call) -> Answer:
    pull, name = pull_of(call), call.path["name"]
    if name not in pull.labels:
        raise Refused(404, "Label does not exist")
    pull.unlabel(name, call.token.login)
    return Answer([shown(call.repo, each) for each in pull.labels])


def shown(repo: Repository, name: str) -> dict[str, object]:
    number = crc32(name.encode())
    return {
        "id": number,
        "node_id": show.node("LA", number),
        "url": f"{show.api_of(repo)}/labels/{number}",
        "name": name,
        "color": "ededed",
        "default": False,
        "description": "",
    }


def list_events(call: Call) -> Answer:
    events = [
        {
            "id": event.id,
            "node_id": show.node("LE", event.id),
            "url": f"{show.api_of(call.repo)}/issues/events/{event.id}",
            "actor": show.user(call.github, event.login),
            "event": event.event,
            "commit_id": None,
            "commit_url": None,
            "created_at": stamp(event.created_at),
            "performed_via_github_app": None,
            "label": {"name": event.label, "color": "ededed"},
        }
        for event in pull_of(call).events
    ]
    return listed(call, events)


def get_permission(call: Call) -> Answer:
    """The permission of any user: a public repository may be read by everybody."""
    login = call.path["username"]
    role = call.repo.roles.get(login, "none" if call.repo.private else "read")
    permission = _LEVELS.get(role, role)
    rights = ("pull", "triage", "push", "maintain", "admin")
    level = {"none": 0, "read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}[role]
    user = {
        **show.user(call.github, login),
        "role_name": role,
        "permissions": {name: index < level for index, name in enumerate(rights)},
    }
    return Answer({"permission": permission, "role_name": role, "user": user})


def list_activities(call: Call) -> Answer:
    """What happened to branches, the newest first; one page, since the real one has cursors."""
    ref = call.query.get("ref", "")
    wanted = ref if ref.startswith("refs/") else f"refs/heads/{ref}"
    found = [
        {
            "id": each.id,
            "node_id": show.node("PSH", each.id),
            "before": each.before,
            "after": each.after,
            "ref": each.ref,
            "timestamp": stamp(each.timestamp),
            "activity_type": each.activity_type,
            "actor": show.user(call.github, "octocat"),
        }
        for each in reversed(call.repo.activities)
        if not ref or each.ref == wanted
    ]
    return Answer(found[: int(call.query.get("per_page", 30))])
