"""Workspaces: a fresh copy of a folder for each trial, and the files that changed in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

MOST_FILES = 20_000
_BLOCK = 1 << 20
_LEFT_OUT = (".git", "__pycache__")


class Workspace(str):
    """The path of a temporary folder. It is deleted when nothing refers to it any more."""

    __slots__ = ("__weakref__",)


def make_workspace(
    source: Path | None, prefix: str = "scoregate-agent-", *, left_out: Collection[str] = ()
) -> Workspace:
    """A new folder with a copy of the source.

    In a git repository, files that git ignores are left out. Links are copied as links.

    Args:
        source: the folder; None for an empty workspace.
        prefix: the start of the folder's name.
        left_out: files and folders that are not copied, relative to the source.

    Raises:
        ValueError: a link in the source points to the outside, or there are too many files.
        OSError: the source can't be read.
    """
    workspace = Workspace(tempfile.mkdtemp(prefix=prefix))
    weakref.finalize(workspace, shutil.rmtree, str(workspace), ignore_errors=True)
    if source is not None:
        copy_files(source, Path(workspace), left_out=left_out)
    return workspace


def copy_files(source: Path, target: Path, *, left_out: Collection[str] = ()) -> None:
    """Copy the files of a folder into another one.

    Args:
        source: the folder.
        target: the other one; folders in it are created.
        left_out: files and folders that are not copied, relative to the source.

    Raises:
        ValueError: a link in the source points to the outside, or there are too many files.
        OSError: the source can't be read.
    """
    names = (name for name in _list_files(source) if not any(_is_below(name, each) for each in left_out))
    for number, name in enumerate(names):
        if number >= MOST_FILES:
            raise ValueError(f"the workspace {source} has more than {MOST_FILES:,} files; name a smaller folder")
        _check_link(source, name)
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, place, follow_symlinks=False)


def _is_below(name: str, folder: str) -> bool:
    return name == folder or name.startswith(f"{folder}/")


def _list_files(source: Path) -> Iterable[str]:
    if not (source / ".git").exists():
        return _walk(source)
    command = ["git", "-C", str(source), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True).stdout
    names = (os.fsdecode(name) for name in listed.split(b"\0") if name)
    return (name for name in names if (source / name).is_symlink() or (source / name).is_file())


def _walk(folder: Path) -> Iterator[str]:
    """The files and links below a folder, relative to it. Links to folders are not followed."""
    for root, folders, files in os.walk(folder):
        links = [name for name in folders if Path(root, name).is_symlink()]
        folders[:] = [name for name in folders if name not in (*_LEFT_OUT, *links)]
        for name in sorted((*files, *links)):
            path = Path(root, name)
            if path.is_symlink() or path.is_file():  # a pipe or a socket would block
                yield str(path.relative_to(folder))


def _check_link(source: Path, name: str) -> None:
    path = source / name
    if path.is_symlink() and not path.resolve().is_relative_to(source.resolve()):
        raise ValueError(
            f"the link {name} in the workspace {source} points to the outside, {str(path.readlink())!r:.100}"
        )


Snapshot = dict[str, tuple[int, bytes]]


def take_snapshot(workspace: str) -> Snapshot:
    """What is in a workspace: for each file, and each link by its target, the mode and a digest."""
    found: Snapshot = {}
    for name in _walk(Path(workspace)):
        if len(found) >= 2 * MOST_FILES:
            break
        path = Path(workspace, name)
        with suppress(OSError):  # deleted by a process that still runs
            found[name] = (path.lstat().st_mode, _digest(path))
    return found


def _digest(path: Path) -> bytes:
    digest = blake2b(digest_size=16)
    if path.is_symlink():
        digest.update(os.fsencode(path.readlink()))
        return digest.digest()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.digest()


def list_changes(before: Snapshot, after: Snapshot) -> list[str]:
    """The files that were added, changed or deleted, sorted."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
