"""Copies of the work tree, whose files edits change. The user's own files are only read."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from anyio import to_thread

from scoregate.errors import GitError
from scoregate.kernel.host import git
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.dependencies.project import find_folder, read_project_tree


class _FileState(NamedTuple):
    size: int
    changed_ns: int
    mode: int


class _KeptFile(NamedTuple):
    content: bytes
    state: _FileState


@dataclass
class TreeCopy:
    """A copy of the work tree.

    Attributes:
        top: the top of the repository in the copy.
        root: the project in the copy.
    """

    top: Path
    root: Path
    _states: dict[str, _FileState] = field(default_factory=dict)
    _folders: set[str] = field(default_factory=set)
    _kept: dict[str, _KeptFile | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._states = dict(_list_states(self.top))
        self._folders = set(_list_folders(self.top))

    def read(self, path: str) -> bytes | None:
        """The content of a file; None if it is no ordinary file of the copy."""
        return (self.top / path).read_bytes() if self._is_own_file(path) else None

    def write(self, contents: Mapping[str, bytes | None]) -> None:
        """Replace files, until `restore` is called.

        Args:
            contents: the new contents by path; None removes a file.
        """
        for path, content in contents.items():
            place = self.top / path
            self._kept[path] = _KeptFile(place.read_bytes(), self._states[path]) if self._is_own_file(path) else None
            if content is None:
                place.unlink(missing_ok=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)

    def restore(self) -> bool:
        """Undo the edits, and delete what suites wrote; False if they changed other files, too: the copy is spoiled."""
        for path, kept in self._kept.items():
            place = self.top / path
            if kept is None:
                place.unlink(missing_ok=True)
                continue
            place.write_bytes(kept.content)
            place.chmod(stat.S_IMODE(kept.state.mode))
            os.utime(place, ns=(kept.state.changed_ns, kept.state.changed_ns))
        self._kept.clear()
        states = dict(_list_states(self.top))
        for path in states.keys() - self._states.keys():
            (self.top / path).unlink()
        for folder in sorted(set(_list_folders(self.top)) - self._folders, reverse=True):
            (self.top / folder).rmdir()
        return all(states.get(path) == state for path, state in self._states.items())

    def _is_own_file(self, path: str) -> bool:
        """Whether a path is a file, and no link leads to it: links may lead out of the copy."""
        state = self._states.get(path)
        return state is not None and stat.S_ISREG(state.mode) and (self.top / path).resolve() == self.top / path


def _list_states(top: Path) -> Iterator[tuple[str, _FileState]]:
    for folder, _, names in _walk(top):
        for name in names:
            path = folder / name
            state = path.lstat()
            yield path.relative_to(top).as_posix(), _FileState(state.st_size, state.st_mtime_ns, state.st_mode)


def _list_folders(top: Path) -> Iterator[str]:
    for folder, names, _ in _walk(top):
        yield from ((folder / name).relative_to(top).as_posix() for name in names)


def _walk(top: Path) -> Iterator[tuple[Path, Sequence[str], Sequence[str]]]:
    """The folders of a tree, with the names of folders and of files and links in each, without those of git."""
    for folder, folders, files in os.walk(top):
        links = [name for name in folders if Path(folder, name).is_symlink()]
        folders[:] = [name for name in folders if name not in links and name != ".git"]
        yield Path(folder), folders, [*(name for name in files if name != ".git"), *links]


@asynccontextmanager
async def open_tree_copy(root: Path, settings: Settings) -> AsyncIterator[TreeCopy]:
    """A copy of the work tree of a project, with its uncommitted changes, in a temporary folder until the block ends.

    Files that git ignores are not in it.

    Args:
        root: the project.
        settings: the settings of the project.

    Raises:
        GitError: the project is in no repository, which needs a commit.
    """
    tree = await read_project_tree(root, settings)
    if tree is None or await git.head_commit(root) is None:
        raise GitError(
            f"the work tree of {root} can't be copied: it is in no git repository with a commit",
            advice="Commit the project once; uncommitted changes are copied, too.",
        )
    changed = await git.read_output(tree.top, "diff", "--name-only", "--no-renames", "-z", "HEAD", "--")
    if changed is None:
        raise GitError(f"git can't list the changes in {tree.top}", advice="Finish a merge that is in progress.")
    paths = [os.fsdecode(each) for each in changed.split(b"\0") if each]
    paths += [each for each in tree.others if not tree.is_left_out(each)]
    async with git.open_worktree(tree.top, "HEAD") as top:
        await to_thread.run_sync(_copy_files, tree.top, top, paths)
        yield await to_thread.run_sync(TreeCopy, top, top / find_folder(root, tree))


def _copy_files(top: Path, copy: Path, paths: Sequence[str]) -> None:
    for path in paths:
        source, place = top / path, copy / path
        if source.is_dir() and not source.is_symlink():
            continue  # a submodule
        if place.is_symlink() or place.is_file():
            place.unlink()
        if os.path.lexists(source):
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, place, follow_symlinks=False)
