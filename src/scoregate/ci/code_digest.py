"""Digests of the code that is checked out, with the changes that no commit has."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import anyio.to_thread

from scoregate.ci import git
from scoregate.ci.archive.folder import open_nofollow

_MOST_BYTES = 1 << 30
_MOST_UNTRACKED = 1_000
OUTPUT = "output"


async def code_digest(root: Path, tree: git.WorkTree, *, left_out: Path) -> str | None:
    """A digest of the commit, of the changes to tracked files, and of the files that are not ignored.

    Args:
        root: the repository.
        tree: what is checked out there.
        left_out: a folder whose files do not count. Compiled Python and the cache of model answers don't count either.

    Returns:
        None before the first commit, or with more than 1 GB of such files.
    """
    top = await git.top_level(root)
    if tree.commit is None or top is None:
        return None
    diff = b""
    if tree.changed:
        read = await git.read_output(top, "diff", "HEAD", "--binary", "--no-ext-diff", "--no-textconv", "--no-color")
        if read is None:
            return None
        diff = read
    digest = hashlib.blake2b(tree.commit.encode() + b"\0" + diff, digest_size=16)
    counted = _choose_untracked(top, tree, left_out)
    return await anyio.to_thread.run_sync(_add_files, digest, top, counted) if counted else digest.hexdigest()


def _choose_untracked(top: Path, tree: git.WorkTree, left_out: Path) -> list[Path]:
    names = sorted(tree.untracked)
    paths = [top / name for name in names if not name.endswith(".pyc") and ".scoregate/cache/" not in f"/{name}"]
    return [path for path in paths if not path.is_relative_to(left_out)]


async def digest_untracked(root: Path, tree: git.WorkTree, *, left_out: Path) -> dict[str, str] | None:
    """The digests of the files that `code_digest` counts and git does not track, by path from the top level.

    The digest of a file that the output of this process goes to is `OUTPUT`.

    Args:
        root: the repository.
        tree: what is checked out there.
        left_out: a folder whose files do not count.

    Returns:
        None outside a repository, or with too many or too large files.
    """
    top = await git.top_level(root)
    if top is None:
        return None
    paths = _choose_untracked(top, tree, left_out)
    return await anyio.to_thread.run_sync(_digest_each, top, paths) if len(paths) <= _MOST_UNTRACKED else None


def _digest_each(top: Path, paths: list[Path]) -> dict[str, str] | None:
    outputs = [os.fstat(number) for number in (1, 2) if _is_open(number)]
    digests = {}
    for path in paths:
        digest = _add_files(hashlib.blake2b(digest_size=8), top, [path])
        if digest is None:
            return None
        is_output = any(path.exists() and os.path.samestat(each, path.stat()) for each in outputs)
        digests[path.relative_to(top).as_posix()] = OUTPUT if is_output else digest
    return digests


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _add_files(digest: hashlib.blake2b, top: Path, paths: list[Path]) -> str | None:
    left = _MOST_BYTES
    for path in paths:
        digest.update(b"\0" + os.fsencode(path.relative_to(top)) + b"\0")
        try:
            with open(path, "rb", opener=open_nofollow) as file:
                while chunk := file.read(1 << 20):
                    left -= len(chunk)
                    if left < 0:
                        return None
                    digest.update(chunk)
        except OSError:  # a link, or a file that can't be read
            digest.update(str(path.readlink()).encode() if path.is_symlink() else b"?")
    return digest.hexdigest()
