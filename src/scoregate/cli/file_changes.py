"""The changes of a project's files, without those that editors, tools and scoregate itself make."""

# A project may have ten thousands of paths: they are texts.
# ruff: noqa: PTH112, PTH116, PTH118, PTH120

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import anyio
from anyio.abc import TaskGroup

from scoregate.errors import UsageError
from scoregate.kernel.run.discover.files import ProjectFiles

_IGNORED_FOLDERS = {
    *("__pycache__", "node_modules", "site-packages", ".git", ".hg", ".svn", ".venv", "venv", ".tox", ".nox", ".idea"),
    *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints", ".vscode"),
}
# Temporary files of vim, emacs, JetBrains, KDE and GNOME editors; compiled files; the system's own.
_IGNORED_NAMES = re.compile(
    r"4913|\.#.*|#.*#|.*~|.*\.sw[a-z]|.*___jb_(tmp|old)___|.*\.kate-swp|\.goutputstream-.*|.*\.(tmp|temp|partial)"
    r"|.*\.(pyc|pyo|lock)|\.DS_Store|\.coverage(\..*)?|flycheck_.*"
)
# A change is reported if no other follows within a step.
_STEP_MS, _LONGEST_MS, _TIMEOUT_MS = 20, 400, 1_000
_SAVE_S = 0.15
_MOST_FOLDERS = 20_000
_ADVICE = "Name a smaller project with --working-directory, or raise the limit fs.inotify.max_user_watches."


_Signature: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """A file that changed. `is_new`: it did not exist before."""

    path: str
    is_new: bool = False


@dataclass(slots=True)
class FileChanges:
    """The changes of a project that were not taken yet. Paths are absolute.

    Args:
        root: the project.
        ignored: folders without inputs of suites, such as that of reports.
        tasks: runs a watcher for each set of folders that is added.
    """

    root: Path
    ignored: tuple[Path, ...]
    tasks: TaskGroup
    _listed: frozenset[str] = frozenset()
    _named: set[str] = field(default_factory=set)
    _folders: set[str] = field(default_factory=set)
    _signatures: dict[str, _Signature | None] = field(default_factory=dict)
    _changes: dict[str, Change] = field(default_factory=dict)
    _changed: anyio.Event = field(default_factory=anyio.Event)

    async def watch_project(self) -> None:
        """Watch the files that git tracks or does not ignore; outside of a repository all but hidden ones.

        Raises:
            UsageError: the system can't watch so many folders.
        """
        await self._list_files()
        self._watch_folders(self._listed)

    def watch_files(self, paths: Iterable[str]) -> None:
        """Watch more files, also if git ignores them.

        Raises:
            UsageError: the system can't watch so many folders.
        """
        named = {path for path in paths if not self._is_ignored(path)}
        self._named |= named
        self._watch_folders(named)

    async def wait(self) -> None:
        """Wait until there are changes."""
        await self._changed.wait()

    def take(self) -> list[Change]:
        """Return the changes since the last call."""
        changes = sorted(self._changes.values())
        self._changes.clear()
        self._changed = anyio.Event()
        return changes

    async def _list_files(self) -> None:
        listed = await ProjectFiles(self.root).list_all()
        self._listed = frozenset(os.path.join(self.root, name) for name in listed)

    def _watch_folders(self, paths: Iterable[str]) -> None:
        paths = {path for path in paths if not self._is_ignored(path)}
        for path in paths:
            self._signatures.setdefault(path, _read_signature(path))
        folders = {os.path.dirname(path) for path in paths} | {str(self.root)}
        new = {folder for folder in folders - self._folders if os.path.isdir(folder)}
        self._folders |= new
        if len(self._folders) > _MOST_FOLDERS:
            raise UsageError(f"{self.root} has more than {_MOST_FOLDERS:,} folders to watch", advice=_ADVICE)
        if new:
            self.tasks.start_soon(self._watch, new)

    async def _watch(self, folders: set[str]) -> None:
        from watchfiles import awatch

        watching = awatch(
            *folders,
            watch_filter=None,
            debounce=_LONGEST_MS,
            step=_STEP_MS,
            rust_timeout=_TIMEOUT_MS,
            yield_on_timeout=True,  # the first batch comes even without a change, for the check below
            recursive=False,  # a project may have large ignored folders, such as node_modules
            ignore_permission_denied=True,
        )
        is_first = True
        try:
            async for batch in watching:
                paths = {path for _, path in batch}
                # A file may have changed between the reading of its signature and the start of the watcher.
                paths |= {path for path in self._signatures if os.path.dirname(path) in folders} if is_first else set()
                is_first = False
                await self._add(paths)
        except (OSError, RuntimeError) as error:
            raise UsageError(f"the folders of {self.root} can't be watched: {error}", advice=_ADVICE) from None

    async def _add(self, paths: set[str]) -> None:
        """Add the changes of files, and of those in new folders."""
        paths = {file for path in paths for file in self._list_below(path) if self._is_changed(file)}
        if any(_read_signature(path) is None for path in paths):
            await anyio.sleep(_SAVE_S)  # some editors delete a file before they write it
            paths = {path for path in paths if self._is_changed(path)}
        if paths - self._listed - self._named:
            before = self._listed
            await self._list_files()
            paths &= before | self._listed | self._named
        for path in paths:
            is_new = self._signatures.get(path) is None
            self._signatures[path] = _read_signature(path)
            self._changes[path] = Change(path, is_new)
        self._watch_folders(paths)
        if paths:
            self._changed.set()

    def _is_changed(self, path: str) -> bool:
        return not self._is_ignored(path) and _read_signature(path) != self._signatures.get(path)

    def _list_below(self, path: str) -> Iterator[str]:
        """The file itself, or the files below a new folder."""
        if not os.path.isdir(path):
            yield path
        elif path not in self._folders and not self._is_ignored(path):
            for folder, folders, names in os.walk(path):
                folders[:] = [name for name in folders if name not in _IGNORED_FOLDERS]
                yield from (os.path.join(folder, name) for name in names)

    def _is_ignored(self, path: str) -> bool:
        full = Path(path)
        if not full.is_relative_to(self.root) or any(full.is_relative_to(each) for each in self.ignored):
            return True
        *folders, name = full.relative_to(self.root).parts or ("",)
        return not _IGNORED_FOLDERS.isdisjoint((*folders, name)) or bool(_IGNORED_NAMES.fullmatch(name))


def is_changed_between(path: str, start: float, end: float) -> bool:
    """Whether the last change of a file was in a period, in seconds since 1970. That of a deleted one is unknown."""
    try:
        return start <= os.stat(path).st_mtime < end
    except OSError:
        return False


def _read_signature(path: str) -> _Signature | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
