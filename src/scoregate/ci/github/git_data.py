"""Files on a branch, read and written by the API alone: nobody's work tree is touched."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scoregate.ci.github.answers import rows_at, text_at
from scoregate.ci.github.api import Api
from scoregate.errors import GitHubRefused

_TRIES = 6
_MISSING, _CHANGED = 404, 422


@dataclass(frozen=True, slots=True)
class Tip:
    """The newest commit of a branch; `files` are the blobs in it by path."""

    commit: str
    tree: str
    files: Mapping[str, str]


async def tip_of(api: Api, branch: str) -> Tip | None:
    """The newest commit of a branch; None where there is no such branch.

    Raises:
        GitHubRefused: it cannot be read.
    """
    try:
        reference = await api.get(f"git/ref/heads/{branch}")
    except GitHubRefused as refused:
        if refused.status == _MISSING:
            return None
        raise
    return await tip_at(api, text_at(reference, "object", "sha"))


async def tip_at(api: Api, commit: str) -> Tip:
    """A commit and its files.

    Raises:
        GitHubRefused: it cannot be read, or has more files than GitHub lists.
    """
    found = await api.get(f"git/commits/{commit}")
    tree = await api.get(f"git/trees/{text_at(found, 'tree', 'sha')}", recursive="1")
    if isinstance(tree, dict) and tree.get("truncated"):
        raise GitHubRefused(f"GitHub doesn't list all files of {commit[:7]}: there are too many")
    blobs = (each for each in rows_at(tree, "tree") if text_at(each, "type") == "blob")
    files = {text_at(each, "path"): text_at(each, "sha") for each in blobs}
    return Tip(text_at(found, "sha"), text_at(found, "tree", "sha"), files)


async def add_file(api: Api, branch: str, path: str, *, content: bytes, message: str, keep: int) -> None:
    """Commit a file to a branch, which is made where it is missing; where others commit meanwhile, once more.

    Args:
        path: `folder/name`; names sort by age. keep: how many files of the folder stay; older ones are deleted.

    Raises:
        GitHubRefused: it could not be written.
    """
    blob = await api.post("git/blobs", {"content": base64.b64encode(content).decode(), "encoding": "base64"})
    for number in range(1, _TRIES + 1):
        try:
            await _commit(api, branch, path, blob=text_at(blob, "sha"), message=message, keep=keep)
        except GitHubRefused as refused:
            if refused.status != _CHANGED or number == _TRIES:
                raise
            await api.sleep(0.2 * 2**number)
        else:
            return


async def _commit(api: Api, branch: str, path: str, *, blob: str, message: str, keep: int) -> None:
    tip = await tip_of(api, branch)
    folder = path.rpartition("/")[0]
    there = [each for each in (tip.files if tip else ()) if each.rpartition("/")[0] == folder and each != path]
    entries = [_entry(path, blob), *(_entry(old, None) for old in _surplus(there, keep - 1))]
    tree = await api.post("git/trees", {"tree": entries, **({"base_tree": tip.tree} if tip else {})})
    commit = await api.post(
        "git/commits", {"message": message, "tree": text_at(tree, "sha"), "parents": [tip.commit] if tip else []}
    )
    if tip is None:
        await api.post("git/refs", {"ref": f"refs/heads/{branch}", "sha": text_at(commit, "sha")})
    else:
        await api.patch(f"git/refs/heads/{branch}", {"sha": text_at(commit, "sha"), "force": False})


def _surplus(paths: Iterable[str], keep: int) -> list[str]:
    return sorted(paths, reverse=True)[keep:]


def _entry(path: str, blob: str | None) -> dict[str, str | None]:
    return {"path": path, "mode": "100644", "type": "blob", "sha": blob}
