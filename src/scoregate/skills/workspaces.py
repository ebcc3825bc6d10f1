"""The workspace of a trial: with a skill or other files for agents, or without them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from scoregate.agents.workspace import Workspace, copy_files, list_files, make_workspace
from scoregate.errors import AgentError
from scoregate.kernel.types.relative_paths import is_below
from scoregate.scorers.commands import run_command

_SETUP_TIMEOUT = 120
_MOST_SHOWN = 3
_INPUT_FOLDERS = ("evals/files/", "evals/")


@dataclass(frozen=True, slots=True)
class ArmWorkspaces:
    """Makes the workspaces of one arm.

    Attributes:
        root: the project; other paths are relative to it or absolute.
        source: the folder that each trial gets a copy of; None for an empty one.
        left_out: files and folders of the project that the agent must not see, relative to the project.
        skill: the folder of the skill that the agent gets; None for none.
        target: where the skill is in the workspace.
        files: other files and folders that the agent gets, relative to the project.
        inputs: the folder that the files of cases are relative to.
        private: what the agent must not find in its copy of the skill, relative to it.
    """

    root: Path
    source: Path | None = None
    left_out: tuple[str, ...] = ()
    skill: Path | None = None
    target: str = ""
    files: tuple[str, ...] = ()
    inputs: Path = Path()
    private: tuple[str, ...] = ("evals",)

    def make(self, files: Sequence[str], given: Sequence[Mapping[str, Any]] = ()) -> Workspace:
        """Make a workspace.

        Args:
            files: the files of the case, relative to `inputs`. They are in the workspace under their path below
                `evals/files/` or `evals/`, else under their whole path.
            given: more files: the path in the workspace, and either the content or the source, relative to the project.

        Raises:
            ValueError: a link leads out of its folder or of the workspace, or there are too many files.
            OSError: a file can't be read.
        """
        workspace = make_workspace(self.source, left_out=self._list_left_out())
        top = Path(workspace)
        if self.skill is not None:
            copy_files(self.skill, _open_place(top, self.target), left_out=self.private)
        for name in self.files:
            _copy(self.root / name, self.root, _open_place(top, name))
        for name in files:
            _copy(self.inputs / name, self.inputs, _open_place(top, _place_input(name)))
        for each in given:
            self._add_file(each, top)
        return workspace

    def _add_file(self, given: Mapping[str, Any], top: Path) -> None:
        path = given.get("path") or ""
        if not path:  # the content of a folder
            copy_files(self.root / given["source"], top, left_out=given.get("left_out", ()))
        elif "content" in given:
            _open_place(top, path).write_text(given["content"], "utf-8", newline="")
        else:
            _copy(self.root / given["source"], self.root, _open_place(top, path))

    def _list_left_out(self) -> tuple[str, ...]:
        """What is left out of the source, relative to it."""
        if self.source is None:
            return ()
        names = (os.path.relpath(self.root / name, self.source) for name in self.left_out)
        return tuple(name for name in (*names, self.target) if name and not name.startswith(os.pardir))


class MeasuredFiles:
    """The files that a suite measures, as they are when it starts: an agent may change what later trials measure.

    Args:
        root: the project.
        paths: files and folders of the project, relative to it.
        left_out: files and folders in them that don't count, relative to the project.

    Raises:
        ValueError: the files of a folder can't be listed.
    """

    def __init__(self, root: Path, paths: Sequence[str], left_out: Sequence[str] = ()) -> None:
        self._root = root
        names = (
            name
            for path in paths
            for name in _list_names(root, path)
            if not any(is_below(name, each) for each in left_out)
        )
        self._before = {name: self._read(name) for name in names}

    def check(self) -> None:
        """Check that nothing has changed. New files don't count.

        Raises:
            AgentError: a file was changed or deleted.
        """
        changed = [name for name, state in self._before.items() if self._read(name) != state]
        if changed:
            more = f" and {len(changed) - _MOST_SHOWN:,} more" if len(changed) > _MOST_SHOWN else ""
            raise AgentError(
                f"files of the project changed during the run: {', '.join(changed[:_MOST_SHOWN])}{more}",
                advice="An agent must write to its workspace only. If you edited them, run again.",
            )

    def _read(self, name: str) -> tuple[int, int, int] | None:
        try:
            state = (self._root / name).lstat()
        except OSError:
            return None
        return state.st_mode, state.st_size, state.st_mtime_ns


def _list_names(root: Path, path: str) -> Iterator[str]:
    place = root / path
    if place.is_dir() and not place.is_symlink():
        yield from (str(Path(path, name)) for name in list_files(place))
    else:
        yield str(Path(path))


def run_setup(command: str, workspace: Workspace) -> None:
    """Run a command line in a workspace with `sh`. Its exit code doesn't count, as a build may have to fail.

    Raises:
        AgentError: it took too long or printed too much, and was killed.
    """
    code, reason = run_command(["sh", "-c", command], workspace, _SETUP_TIMEOUT)
    if code is None:
        raise AgentError(f"the command of setup {command!r:.200}: {reason:.500}")


def _open_place(top: Path, name: str) -> Path:
    """The place of a name in a workspace, with the folders above it. A link in the workspace may lead out of it."""
    place = top / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.resolve().is_relative_to(top.resolve()):
        raise ValueError(f"a link in the workspace makes {name} lead out of it")
    return place


def _copy(source: Path, folder: Path, target: Path) -> None:
    if not source.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{source} leads out of {folder}")
    if source.is_dir():
        copy_files(source, target)
    else:
        shutil.copy2(source, target)


def _place_input(name: str) -> str:
    path = str(PurePosixPath(name))
    start = next((each for each in _INPUT_FOLDERS if path.startswith(each)), "")
    return path.removeprefix(start)
