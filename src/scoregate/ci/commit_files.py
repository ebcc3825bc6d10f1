"""The files of a commit that is not checked out: from git where it has the commit, else from GitHub."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from scoregate.ci import git
from scoregate.ci.github.answers import rows_at, text_at
from scoregate.ci.github.api import Api
from scoregate.ci.github.git_data import tip_at
from scoregate.errors import GitError, GitHubRefused


class CommitFiles(Protocol):
    """Paths are relative to the top of the repository."""

    async def read(self, path: str) -> bytes | None:
        """What a file holds; None where the commit has no such file.

        Raises:
            GitError, GitHubRefused: this cannot be found out.
        """

    async def list(self) -> tuple[str, ...]:
        """Every file of the commit.

        Raises:
            GitError, GitHubRefused: they cannot be listed.
        """


@dataclass(frozen=True, slots=True)
class GitFiles:
    """The files of a commit that git has."""

    top: Path
    commit: str

    async def read(self, path: str) -> bytes | None:
        """As for `CommitFiles`."""
        found = await git.files_of(self.top, self.commit, path)
        content = await git.content_of(self.top, self.commit, path) if found else None
        if found is None or (found and content is None):
            raise GitError(f"git cannot read {path} of {self.commit[:7]}")
        return content

    async def list(self) -> tuple[str, ...]:
        """As for `CommitFiles`."""
        if (found := await git.files_of(self.top, self.commit)) is None:
            raise GitError(f"git cannot list the files of {self.commit[:7]}")
        return found


@dataclass(frozen=True, slots=True)
class GitHubFiles:
    """The files of a commit that a shallow clone does not have; folder by folder, since a tree may be large."""

    api: Api
    commit: str

    async def read(self, path: str) -> bytes | None:
        """As for `CommitFiles`."""
        sha = self.commit
        *folders, name = path.split("/")
        for part, kind in (*((folder, "tree") for folder in folders), (name, "blob")):
            tree = await self.api.get(f"git/trees/{sha}")
            found = next((each for each in rows_at(tree, "tree") if _is(each, part, kind)), None)
            if found is None:
                _check_whole(tree)
                return None
            sha = text_at(found, "sha")
        return await self.api.raw(f"git/blobs/{sha}")

    async def list(self) -> tuple[str, ...]:
        """As for `CommitFiles`."""
        return tuple((await tip_at(self.api, self.commit)).files)


def _is(entry: Mapping[str, Any], name: str, kind: str) -> bool:
    return (text_at(entry, "path"), text_at(entry, "type")) == (name, kind)


def _check_whole(tree: Any) -> None:
    if tree.get("truncated"):
        raise GitHubRefused("GitHub doesn't list all files of a folder: there are too many")
