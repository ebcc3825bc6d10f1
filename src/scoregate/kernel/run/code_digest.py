"""Digests of the code that is checked out, with the changes that no commit has."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import anyio.to_thread

from scoregate.kernel.host import git
from scoregate.kernel.judge.archive.folder import open_nofollow
from scoregate.kernel.types.records import record

_MOST_BYTES = 1 << 30
_MOST_UNTRACKED = 1_000
OUTPUT = "output"


@record
class CodeDigests:
    """The digests of the code that is checked out.

    Attributes:
        whole: of the commit, of the changes to tracked files, and of the files that are not ignored; None before the
            first commit, and with more than 1 GB of such files.
        tracked: the same without files that git does not track.
        untracked: of each of these files, by path from the top level; None outside a repository, or with too many or
            too large files. That of a file that the output of this process goes to is `OUTPUT`.
    """

    whole: str | None = None
    tracked: str | None = None
    untracked: Mapping[str, str] | None = None


async def read_code(root: Path, tree: git.WorkTree, *, left_out: Path) -> CodeDigests:
    """Read the code once, for all of its digests.

    Args:
        root: the repository.
        tree: what is checked out there.
        left_out: a folder whose files do not count. Compiled Python and the cache of model answers don't count either.
    """
    top = await git.top_level(root)
    if top is None:
        return CodeDigests()
    digest = await _hash_tracked(top, tree)
    tracked = None if digest is None else digest.hexdigest()
    paths = _choose_untracked(top, tree, left_out)
    whole, untracked = await anyio.to_thread.run_sync(_digest_files, digest, top, paths)
    return CodeDigests(whole, tracked, untracked)


async def digest_tracked(root: Path, tree: git.WorkTree) -> str | None:
    """`CodeDigests.tracked` alone, which reads no other file."""
    top = await git.top_level(root)
    digest = None if top is None else await _hash_tracked(top, tree)
    return None if digest is None else digest.hexdigest()


async def _hash_tracked(top: Path, tree: git.WorkTree) -> hashlib.blake2b | None:
    if tree.commit is None:
        return None
    diff: bytes | None = b""
    if tree.changed:
        diff = await git.read_output(top, "diff", "HEAD", "--binary", "--no-ext-diff", "--no-textconv", "--no-color")
    return None if diff is None else hashlib.blake2b(tree.commit.encode() + b"\0" + diff, digest_size=16)


def _choose_untracked(top: Path, tree: git.WorkTree, left_out: Path) -> list[Path]:
    names = sorted(tree.untracked)
    paths = [top / name for name in names if not name.endswith(".pyc") and ".scoregate/cache/" not in f"/{name}"]
    return [path for path in paths if not path.is_relative_to(left_out)]


def _digest_files(
    whole: hashlib.blake2b | None, top: Path, paths: list[Path]
) -> tuple[str | None, dict[str, str] | None]:
    """Add files to a digest; returns it and the digest of each file."""
    each: dict[str, str] | None = {} if len(paths) <= _MOST_UNTRACKED else None
    outputs = [os.fstat(number) for number in (1, 2) if _is_open(number)]
    left = _MOST_BYTES
    for path in paths:
        name = path.relative_to(top)
        start = b"\0" + os.fsencode(name) + b"\0"
        own, own_left = hashlib.blake2b(start, digest_size=8), _MOST_BYTES
        if whole is not None:
            whole.update(start)
        for part in _read_parts(path):
            left, own_left = left - len(part), own_left - len(part)
            whole = None if left < 0 else whole
            each = None if own_left < 0 else each
            if whole is None and each is None:
                return None, None
            own.update(part)
            if whole is not None:
                whole.update(part)
        if each is not None:
            is_output = any(path.exists() and os.path.samestat(output, path.stat()) for output in outputs)
            each[name.as_posix()] = OUTPUT if is_output else own.hexdigest()
    return None if whole is None else whole.hexdigest(), each


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _read_parts(path: Path) -> Iterator[bytes]:
    try:
        with open(path, "rb", opener=open_nofollow) as file:
            while chunk := file.read(1 << 20):
                yield chunk
    except OSError:  # a link, or a file that can't be read
        yield str(path.readlink()).encode() if path.is_symlink() else b"?"
