"""Workspaces: a fresh copy of a folder for each trial, and the files that changed in it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from scoregate.kernel.types.records import record
from scoregate.kernel.types.relative_paths import is_below

MOST_FILES = 20_000
MOST_FOUND = 200_000
_LARGE = 64 * 1024 * 1024
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
    weakref.finalize(workspace, delete_tree, str(workspace))
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
    names = (name for name in list_files(source) if not any(is_below(name, each) for each in left_out))
    for number, name in enumerate(names):
        if number >= MOST_FILES:
            raise ValueError(f"the workspace {source} has more than {MOST_FILES:,} files; name a smaller folder")
        _check_link(source, name)
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, place, follow_symlinks=False)


def list_files(source: Path) -> Iterable[str]:
    """The files of a folder, relative to it; in a git repository those that git doesn't ignore.

    Args:
        source: the folder.

    Raises:
        ValueError: git can't list the files of a repository.
    """
    command = ["git", "-C", str(source), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, check=False)  # `-z`: names may have newlines
        problem = listed.stderr.decode("utf-8", "replace").strip() if listed.returncode else ""
    except OSError as error:
        listed, problem = None, f"git can't be started: {error.strerror}"
    is_top = (source / ".git").exists()
    if problem and is_top:
        raise ValueError(f"the files of the workspace {source} can't be listed: {problem:.300}")
    # A folder that is ignored as a whole, such as one that a build makes, is copied as it is.
    if listed is None or problem or not (listed.stdout or is_top):
        return (name for name in _walk(source, []) if os.path.basename(name) != ".git")  # noqa: PTH119
    names = (os.fsdecode(name) for name in listed.stdout.split(b"\0") if name)
    return (name for name in names if (source / name).is_symlink() or (source / name).is_file())


def _walk(top: Path, unreadable: list[str]) -> Iterator[str]:
    """The files and links below a folder, relative to it. Links to folders are not followed.

    Args:
        top: the folder.
        unreadable: gets the folders that can't be read in full.
    """
    waiting = [""]  # no recursion: an agent may leave thousands of levels
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(top / below) as scan:
                entries = sorted(islice(scan, MOST_FOUND + 1), key=lambda entry: entry.name)
        except OSError:
            unreadable.append(below or ".")
            continue
        if len(entries) > MOST_FOUND:
            unreadable.append(below or ".")
        folders = []
        for entry in entries:
            name = f"{below}/{entry.name}" if below else entry.name
            if entry.is_dir(follow_symlinks=False):
                # git and Python write into these folders by themselves.
                folders += [name] if entry.name not in _LEFT_OUT else []
            elif entry.is_symlink() or entry.is_file():  # a pipe or a socket would block
                yield name
        waiting += reversed(folders)


def _check_link(source: Path, name: str) -> None:
    path = source / name
    if path.is_symlink() and not path.resolve().is_relative_to(source.resolve()):
        raise ValueError(
            f"the link {name} in the workspace {source} points to the outside, {str(path.readlink())!r:.100}"
        )


@record
class FileState:
    """What a file was: its mode and size, and a digest of its content, or of the target of a link."""

    mode: int
    size: int
    digest: bytes


@record
class Snapshot:
    """What a workspace was: the folder itself, and the state of each file by its name."""

    top: tuple[int, int]
    files: Mapping[str, FileState]


def take_snapshot(workspace: str) -> Snapshot:
    """The state of each file in a workspace, without `.git` and `__pycache__`."""
    top = Path(workspace)
    files = {name: _read_state(top / name, (top / name).lstat()) for name in _walk(top, [])}
    return Snapshot(_identify(top), files)


def _identify(folder: Path) -> tuple[int, int]:
    """What a folder has in common with itself at another time. A link in its place has something else."""
    state = folder.lstat()
    return state.st_dev, state.st_ino  # the inode: a folder in its place has another


def _read_state(path: Path, state: os.stat_result) -> FileState:
    return FileState(state.st_mode, state.st_size, _digest(path, state))


def _digest(path: Path, state: os.stat_result) -> bytes:
    """A digest of the content; of a large file the times and the place, since a sparse file has any size."""
    digest = blake2b(digest_size=16)
    if stat.S_ISLNK(state.st_mode):
        digest.update(os.fsencode(path.readlink()))
    elif state.st_size > _LARGE:
        digest.update(f"{state.st_mtime_ns} {state.st_ctime_ns} {state.st_ino}".encode())
    else:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    return digest.digest()


def list_changes(before: Snapshot, workspace: str) -> list[str]:
    """The files that were added, changed or deleted since a snapshot, sorted; also folders that can't be read any more.

    Only files that may be the same are read, so the time depends on the size of what was there before.

    Args:
        before: the snapshot.
        workspace: the folder.

    Raises:
        ValueError: there are too many files, or something else is in the place of the workspace.
    """
    if not os.path.lexists(workspace) or _identify(Path(workspace)) != before.top:
        raise ValueError("its workspace was deleted or replaced")
    changed, missing, unreadable = list[str](), set(before.files), list[str]()
    for number, name in enumerate(_walk(Path(workspace), unreadable)):
        if number >= MOST_FOUND:
            raise ValueError(f"there are more than {MOST_FOUND:,} files in its workspace")
        missing.discard(name)
        if not _is_same(before.files.get(name), Path(workspace, name)):
            changed.append(name)
    return sorted({*changed, *missing, *unreadable})


def _is_same(before: FileState | None, path: Path) -> bool:
    if before is None:
        return False
    try:
        state = path.lstat()
        if (state.st_mode, state.st_size) != (before.mode, before.size):
            return False
        return _digest(path, state) == before.digest
    except OSError:  # deleted by a process that still runs, or not readable any more
        return False


def delete_tree(folder: str) -> None:
    """Delete a folder, also one that the agent made unreadable or thousands of levels deep."""
    if os.path.islink(folder):  # noqa: PTH114
        Path(folder).unlink(missing_ok=True)
        return
    with suppress(OSError):
        # Python can't delete folders at any depth, or takes a time that is quadratic in the depth.
        script = 'rm -rf -- "$1" || { chmod -R u+rwX -- "$1"; rm -rf -- "$1"; }'
        subprocess.run(["sh", "-c", script, "sh", folder], stderr=subprocess.DEVNULL, check=False)
    if os.path.lexists(folder):  # there is no `rm`
        with suppress(OSError, RecursionError):
            shutil.rmtree(folder)
