"""Files on a branch, read and written through the API, without a work tree."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from scoregate.errors import GitHubRefused
from scoregate.kernel.job.github.responses import rows_at, text_at
from scoregate.kernel.types.backoff import backoff_s
from scoregate.kernel.types.records import record

if TYPE_CHECKING:
    from scoregate.kernel.job.github.client import Api

_MOST_TRIES = 6
_MISSING, _CONFLICT = 404, 422


@record
class BranchTip:
    """The newest commit of a branch; `files` are the blobs in it by path."""

    commit: str
    tree: str
    files: Mapping[str, str]


async def read_tip(api: Api, branch: str) -> BranchTip | None:
    """The newest commit of a branch; None if there is no such branch.

    Raises:
        GitHubRefused: it can't be read.
    """
    try:
        reference = await api.get(f"git/ref/heads/{branch}")
    except GitHubRefused as refused:
        if refused.status == _MISSING:
            return None
        raise
    return await read_commit(api, text_at(reference, "object", "sha"))


async def read_commit(api: Api, commit: str) -> BranchTip:
    """A commit and its files.

    Raises:
        GitHubRefused: it can't be read, or has more files than GitHub lists.
    """
    response = await api.get(f"git/commits/{commit}")
    tree = await api.get(f"git/trees/{text_at(response, 'tree', 'sha')}", recursive="1")
    if isinstance(tree, dict) and tree.get("truncated"):
        raise GitHubRefused(f"GitHub doesn't list all files of {commit[:7]}: there are too many")
    blobs = (each for each in rows_at(tree, "tree") if text_at(each, "type") == "blob")
    files = {text_at(each, "path"): text_at(each, "sha") for each in blobs}
    return BranchTip(text_at(response, "sha"), text_at(response, "tree", "sha"), files)


async def add_file(api: Api, branch: str, path: str, *, content: bytes, message: str, keep: int) -> None:
    """Commit a file to a branch, which is created if it is missing; try again if others commit meanwhile.

    Args:
        api: the repository.
        branch: the name of the branch.
        path: `folder/name`; the alphabetical order of names is chronological.
        content: the content of the file.
        message: the commit message.
        keep: how many files of the folder to keep; older ones are deleted.

    Raises:
        GitHubRefused: the file could not be written.
    """
    blob = await api.post("git/blobs", {"content": base64.b64encode(content).decode(), "encoding": "base64"})
    for number in range(1, _MOST_TRIES + 1):
        try:
            await _commit(api, branch, path, blob=text_at(blob, "sha"), message=message, keep=keep)
        except GitHubRefused as refused:
            if refused.status != _CONFLICT or number == _MOST_TRIES:
                raise
            await api.sleep(backoff_s(number, first_s=0.4))
        else:
            return


async def _commit(api: Api, branch: str, path: str, *, blob: str, message: str, keep: int) -> None:
    tip = await read_tip(api, branch)
    folder = path.rpartition("/")[0]
    others = [each for each in (tip.files if tip else ()) if each.rpartition("/")[0] == folder and each != path]
    outdated = sorted(others, reverse=True)[keep - 1 :]
    entries = [_entry(path, blob), *(_entry(old, None) for old in outdated)]
    tree = await api.post("git/trees", {"tree": entries, **({"base_tree": tip.tree} if tip else {})})
    commit = await api.post(
        "git/commits", {"message": message, "tree": text_at(tree, "sha"), "parents": [tip.commit] if tip else []}
    )
    if tip is None:
        await api.post("git/refs", {"ref": f"refs/heads/{branch}", "sha": text_at(commit, "sha")})
    else:
        # Refused if another job has committed meanwhile.
        await api.patch(f"git/refs/heads/{branch}", {"sha": text_at(commit, "sha"), "force": False})


def _entry(path: str, blob: str | None) -> dict[str, str | None]:
    return {"path": path, "mode": "100644", "type": "blob", "sha": blob}


BRANCH = "scoregate-data"
KEPT = 100
_NAME = re.compile(r"(?P<key>[^/]+)/(?P<time>\d{14})-(?P<commit>[0-9a-f]{40,64})\.zip")


@record
class StoredRun:
    """A run on the branch: its commit, its time as 14 digits, its blob."""

    commit: str
    time: str
    blob: str


def stored_runs(tip: BranchTip, key: str) -> Iterator[StoredRun]:
    """The runs of a key, the newest first."""
    for path in sorted(tip.files, reverse=True):
        match = _NAME.fullmatch(path)
        if match and match["key"] == key:
            yield StoredRun(match["commit"], match["time"], tip.files[path])


def stored_path(key: str, time: str, commit: str) -> str:
    """The path of a run on the branch.

    Args:
        key: the key of the job.
        time: 14 digits, `YYYYMMDDhhmmss`.
        commit: the commit of the run.
    """
    return f"{key}/{time}-{commit}.zip"
