"""Refs: read, made, and moved, forwards unless forced."""

from __future__ import annotations

import re
from typing import Any

from tests.fakes.github import show
from tests.fakes.github.exchange import Answer, Call, Refused
from tests.fakes.github.history import ancestors


def get_ref(call: Call) -> Answer:
    ref = f"refs/{call.path['ref']}"
    if ref not in call.repo.refs:
        raise Refused(404, "Not Found")
    return Answer(shown(call, ref))


def create_ref(call: Call) -> Answer:
    ref, sha = call.body["ref"], call.body["sha"]
    if not re.fullmatch(r"refs/[^/]+/.+", ref):
        raise Refused(422, "Reference name must start with 'refs/' and contain at least two slashes.")
    if ref in call.repo.refs:
        raise Refused(422, "Reference already exists")
    known_commit(call, sha)
    call.repo.refs[ref] = sha
    return Answer(shown(call, ref), 201)


def update_ref(call: Call) -> Answer:
    ref, sha = f"refs/{call.path['ref']}", call.body["sha"]
    if ref not in call.repo.refs:
        raise Refused(422, "Reference does not exist")
    known_commit(call, sha)
    if not call.body.get("force", False) and call.repo.refs[ref] not in ancestors(call.repo.objects, sha):
        raise Refused(422, "Update is not a fast forward")
    call.repo.refs[ref] = sha
    return Answer(shown(call, ref))


def delete_ref(call: Call) -> Answer:
    if call.repo.refs.pop(f"refs/{call.path['ref']}", None) is None:
        raise Refused(422, "Reference does not exist")
    return Answer(status=204)


def known_commit(call: Call, sha: str) -> None:
    if sha not in call.repo.objects.commits:
        raise Refused(422, "Object does not exist")


def shown(call: Call, ref: str) -> dict[str, Any]:
    api, sha = show.api_of(call.repo), call.repo.refs[ref]
    return {
        "ref": ref,
        "node_id": show.node("REF", ref),
        "url": f"{api}/git/{ref}",
        "object": {"type": "commit", "sha": sha, "url": f"{api}/git/commits/{sha}"},
    }
