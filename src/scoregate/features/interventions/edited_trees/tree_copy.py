"""Copies of the work tree, whose files edits change. The user's own files are only read."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
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


_NEW_FILE = 0o644


class _KeptFile(NamedTuple):
    content: bytes
    state: _FileState


@dataclass
class TreeCopy:
    """A copy of the work tree.

    Attributes:
        top: the top of the repository in the copy.
        root: the project in the copy.
        state: the digest of the commit, and of the files that differ from it.
    """

    top: Path
    root: Path
    state: str = ""
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

        Raises:
            GitError: a link is on the way to a file: what it leads to may be outside of the copy.
        """
        for path, content in contents.items():
            own = self._is_own_file(path)
            self._kept[path] = _KeptFile((self.top / path).read_bytes(), self._states[path]) if own else None
            try:
                _replace_file(self.top, path, content, self._states[path].mode if own else _NEW_FILE)
            except OSError as error:
                raise GitError(
                    f"{path} can't be edited in a copy of the work tree: {error.strerror or error}",
                    advice="A link, or a file in the place of a folder, can't be edited.",
                ) from None

    def restore(self) -> bool:
        """Undo the edits, and delete what suites wrote; False if the copy is not as before: it is spoiled."""
        try:
            for path, kept in self._kept.items():
                if kept is None:
                    _replace_file(self.top, path, None, _NEW_FILE)
                else:
                    _replace_file(self.top, path, kept.content, kept.state.mode, changed_ns=kept.state.changed_ns)
            self._kept.clear()
            self._delete_new()
            states = dict(_list_states(self.top))
        except OSError:  # a suite has put something else there, or left a process that writes
            return False
        return states == self._states

    def _delete_new(self) -> None:
        """Delete the files and folders that were not in the copy."""
        for folder, folders, files in _walk(self.top):
            inner = folder.relative_to(self.top)
            for name in [name for name in folders if (inner / name).as_posix() not in self._folders]:
                shutil.rmtree(folder / name)
            for name in files:
                if (inner / name).as_posix() not in self._states:
                    (folder / name).unlink()

    def _is_own_file(self, path: str) -> bool:
        """Whether a path is a file, and no link leads to it: links may lead out of the copy."""
        state = self._states.get(path)
        return state is not None and stat.S_ISREG(state.mode) and (self.top / path).resolve() == self.top / path


def _replace_file(top: Path, path: str, content: bytes | None, mode: int, *, changed_ns: int | None = None) -> None:
    """Replace a file below a folder, or remove it; no link is followed.

    Raises:
        OSError: a part of the path is no folder, or is a link.
    """
    *folders, name = path.split("/")
    with ExitStack() as stack:
        handle = _open_folder(stack, str(top))
        for folder in folders:
            if content is not None:
                with suppress(FileExistsError):
                    os.mkdir(folder, dir_fd=handle)
            elif folder not in os.listdir(handle):  # noqa: PTH208 (a handle, not a path)
                return
            handle = _open_folder(stack, folder, handle)
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=handle)
        if content is not None:
            file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=handle)
            with os.fdopen(file, "wb") as writing:
                writing.write(content)
                writing.flush()
                os.fchmod(file, stat.S_IMODE(mode))
                if changed_ns is not None:
                    os.utime(file, ns=(changed_ns, changed_ns))


def _open_folder(stack: ExitStack, name: str, parent: int | None = None) -> int:
    handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    stack.callback(os.close, handle)
    return handle


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
    paths = await git.list_differing_files(tree.top, "HEAD")
    if paths is None:
        raise GitError(f"git can't list the changes in {tree.top}", advice="Finish a merge that is in progress.")
    paths += [each for each in tree.others if not tree.is_left_out(each)]
    paths += await _list_submodule_files(tree.top)
    commit = await git.head_commit(root)
    async with git.open_worktree(tree.top, commit or "HEAD") as top:
        try:
            state = await to_thread.run_sync(_copy_files, tree.top, top, paths, commit or "")
        except OSError as error:
            raise GitError(f"the work tree of {root} can't be copied: {error}", advice="Commit or remove it.") from None
        yield await to_thread.run_sync(TreeCopy, top, top / find_folder(root, tree), state)


async def _list_submodule_files(top: Path) -> list[str]:
    """The files of submodules, which git leaves out of a new work tree."""
    own, everything = [
        await git.read_output(top, "ls-files", "-z", *options) for options in ((), ("--recurse-submodules",))
    ]
    return sorted(map(os.fsdecode, {*(everything or b"").split(b"\0")} - {*(own or b"").split(b"\0")}))


def _copy_files(top: Path, copy: Path, paths: Sequence[str], commit: str) -> str:
    """Copy the files that differ from a commit, or delete them there, and return the digest of all of it."""
    digest = blake2b(commit.encode(), digest_size=16)
    for path in sorted(paths):
        source, place = top / path, copy / path
        digest.update(f"\n{path}\n".encode("utf-8", "surrogateescape"))
        if source.is_dir() and not source.is_symlink():
            continue  # a submodule, or a folder in the place of a file: the files in it are in the list
        _make_way(copy, place)
        if not os.path.lexists(source):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, place, follow_symlinks=False)
        digest.update(os.fsencode(place.readlink()) if place.is_symlink() else place.read_bytes())
    return digest.hexdigest()


def _make_way(copy: Path, place: Path) -> None:
    """Delete what is in the place of a file, and files in the place of its folders."""
    for path in (*reversed(place.relative_to(copy).parents), place.relative_to(copy)):
        here = copy / path
        if here.is_symlink() or here.is_file():
            here.unlink()
        elif here == place and here.is_dir():
            shutil.rmtree(here)
