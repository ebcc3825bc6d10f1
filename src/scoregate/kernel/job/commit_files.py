"""The files of a commit that is not checked out: from git if it has the commit, else from GitHub."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from scoregate.errors import GitError, GitHubRefused
from scoregate.kernel.host import git
from scoregate.kernel.job.github.responses import rows_at, text_at
from scoregate.kernel.types.records import record

if TYPE_CHECKING:
    from scoregate.kernel.job.github.client import Api


class CommitFiles(Protocol):
    """Paths are relative to the top of the repository."""

    async def read(self, path: str) -> bytes | None:
        """The content of a file; None if the commit has no such file.

        Raises:
            GitError, GitHubRefused: it can't be read.
        """

    async def list(self) -> tuple[str, ...]:
        """Every file of the commit.

        Raises:
            GitError, GitHubRefused: they can't be listed.
        """


@record
class GitFiles:
    """The files of a commit that git has."""

    top: Path
    commit: str

    async def read(self, path: str) -> bytes | None:
        """The content of a file; None if the commit has no such file."""
        paths = await git.list_commit_files(self.top, self.commit, path)
        content = await git.read_file(self.top, self.commit, path) if paths else None
        if paths is None or (paths and content is None):
            raise GitError(f"git can't read {path} of {self.commit[:7]}")
        return content

    async def list(self) -> tuple[str, ...]:
        """Every file of the commit."""
        if (paths := await git.list_commit_files(self.top, self.commit)) is None:
            raise GitError(f"git can't list the files of {self.commit[:7]}")
        return paths


@record
class GitHubFiles:
    """The files of a commit that a shallow clone does not have; folder by folder, since a tree may be large."""

    api: Api
    commit: str

    async def read(self, path: str) -> bytes | None:
        """The content of a file; None if the commit has no such file."""
        sha = self.commit
        *folders, name = path.split("/")
        for part, kind in (*((folder, "tree") for folder in folders), (name, "blob")):
            tree = await self.api.get(f"git/trees/{sha}")
            rows = (each for each in rows_at(tree, "tree") if text_at(each, "path") == part)
            row = next((each for each in rows if text_at(each, "type") == kind), None)
            if row is None:
                if tree.get("truncated"):
                    raise GitHubRefused("GitHub doesn't list all files of a folder: there are too many")
                return None
            sha = text_at(row, "sha")
        return await self.api.raw(f"git/blobs/{sha}")

    async def list(self) -> tuple[str, ...]:
        """Every file of the commit."""
        from scoregate.kernel.job.github.branch_files import read_commit

        return tuple((await read_commit(self.api, self.commit)).files)
