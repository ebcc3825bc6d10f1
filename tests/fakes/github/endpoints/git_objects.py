"""Blobs, trees and commits, read and written without a clone."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime
from typing import Any

from tests.fakes.github import show
from tests.fakes.github.endpoints.commits import parents, signature, unverified
from tests.fakes.github.endpoints.find import resolved
from tests.fakes.github.exchange import Answer, Call, Refused
from tests.fakes.github.model import now
from tests.fakes.github.objects import DIRECTORY, Entry

RAW = ("application/vnd.github.raw", "application/vnd.github.raw+json", "application/vnd.github.v3.raw")
KINDS = {DIRECTORY: "tree", "160000": "commit"}


def get_blob(call: Call) -> Answer:
    sha = call.path["file_sha"]
    content = call.repo.objects.blobs.get(sha)
    if content is None:
        raise Refused(404, "Not Found")
    if call.headers.get("accept", "") in RAW:
        return Answer(content, headers={"content-type": "application/vnd.github.raw+json; charset=utf-8"})
    url = f"{show.api_of(call.repo)}/git/blobs/{sha}"
    text = base64.encodebytes(content).decode()
    blob = {"sha": sha, "node_id": show.node("B", sha), "size": len(content), "url": url}
    return Answer({**blob, "content": text, "encoding": "base64"})


def create_blob(call: Call) -> Answer:
    content = call.body["content"]
    try:
        data = base64.b64decode(content) if call.body.get("encoding", "utf-8") == "base64" else content.encode()
    except (binascii.Error, ValueError):
        raise Refused(422, "Content is not valid Base64") from None
    sha = call.repo.objects.add_blob(data)
    return Answer({"sha": sha, "url": f"{show.api_of(call.repo)}/git/blobs/{sha}"}, 201)


def get_tree(call: Call) -> Answer:
    name = call.path["tree_sha"]
    commit = resolved(call.repo, name)
    sha = commit.tree if commit else name
    if sha not in call.repo.objects.trees:
        raise Refused(404, "Not Found")
    return Answer(tree(call, sha, deep="recursive" in call.query))


def create_tree(call: Call) -> Answer:
    objects, base = call.repo.objects, call.body.get("base_tree")
    if base is not None and base not in objects.trees and base not in objects.commits:
        raise Refused(422, "base_tree is not a valid tree oid")
    start = objects.commits[base].tree if base in objects.commits else base
    files = objects.files(start) if start else {}
    if not call.body["tree"]:
        raise Refused(422, "Invalid tree info")
    for line in call.body["tree"]:
        lay(call, files, line)
    return Answer(tree(call, objects.add_tree(files), deep=False), 201)


def lay(call: Call, files: dict[str, Entry], line: dict[str, Any]) -> None:
    """Put one line of a new tree over what is there; a null sha takes the path away."""
    objects, path = call.repo.objects, line.get("path", "")
    if not path or path.startswith("/") or {".", "..", ".git", ""} & set(path.split("/")):
        raise Refused(422, "tree.path contains a malformed path component")
    under = [name for name in files if name == path or name.startswith(f"{path}/")]
    if "sha" in line and line["sha"] is None:
        if not under:
            raise Refused(422, "GitRPC::BadObjectState")
        for name in under:
            del files[name]
        return
    sha = objects.add_blob(line["content"].encode()) if "content" in line else line.get("sha", "")
    kind = line.get("type", "blob")
    if "mode" not in line or sha not in (objects.trees if kind == "tree" else objects.blobs):
        raise Refused(422, f"tree.sha {sha} is not a valid {kind}")
    for name in under:
        del files[name]
    inside = {f"{path}/{name}": entry for name, entry in objects.files(sha).items()} if kind == "tree" else {}
    files |= inside or {path: Entry(line["mode"], sha)}


def get_git_commit(call: Call) -> Answer:
    return Answer(commit_shown(call, call.path["commit_sha"]))


def create_git_commit(call: Call) -> Answer:
    objects, body = call.repo.objects, call.body
    if body["tree"] not in objects.trees:
        raise Refused(422, "Tree SHA does not exist")
    if unknown := [sha for sha in body.get("parents", []) if sha not in objects.commits]:
        raise Refused(422, f"Parent SHA does not exist or is not a commit object: {unknown[0]}")
    author = body.get("author", {})
    date = datetime.fromisoformat(author["date"]) if "date" in author else now()
    name = author.get("name", call.token.login)
    sha = objects.add_commit(
        body["tree"],
        body.get("parents", []),
        message=body["message"],
        date=date,
        author=name,
        email=author.get("email", ""),
    )
    return Answer(commit_shown(call, sha), 201)


def commit_shown(call: Call, sha: str) -> dict[str, Any]:
    commit = call.repo.objects.commits.get(sha)
    if commit is None:
        raise Refused(404, "Not Found")
    api, person = show.api_of(call.repo), signature(commit)
    return {
        "sha": sha,
        "node_id": show.node("C", sha),
        "url": f"{api}/git/commits/{sha}",
        "html_url": f"{show.web_of(call.repo)}/commit/{sha}",
        "author": person,
        "committer": person,
        "message": commit.message,
        "tree": {"sha": commit.tree, "url": f"{api}/git/trees/{commit.tree}"},
        "parents": parents(call, commit),
        "verification": unverified(),
    }


def tree(call: Call, sha: str, *, deep: bool) -> dict[str, Any]:
    url = f"{show.api_of(call.repo)}/git/trees/{sha}"
    return {"sha": sha, "url": url, "tree": lines(call, sha, "", deep), "truncated": False}


def lines(call: Call, sha: str, prefix: str, deep: bool) -> list[dict[str, Any]]:
    objects, api, found = call.repo.objects, show.api_of(call.repo), []
    for name, (mode, inner) in objects.trees[sha].items():
        kind = KINDS.get(mode, "blob")
        size = {"size": len(objects.blobs[inner])} if kind == "blob" else {}
        url = f"{api}/git/{kind}s/{inner}"
        found.append({"path": prefix + name, "mode": mode.zfill(6), "type": kind, "sha": inner, "url": url, **size})
        if deep and kind == "tree":
            found += lines(call, inner, f"{prefix}{name}/", deep)
    return found
