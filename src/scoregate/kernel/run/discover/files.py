"""The files that may hold suites: the ones that the user named, else the ones in the default places."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import translate
from pathlib import Path

from scoregate.errors import UsageError
from scoregate.kernel.host import git
from scoregate.kernel.types.records import record

DEFAULT_FOLDER = "evals"
PATTERNS = ("eval_*.py", "*_eval.py", "*.eval.py")
PYTHON, TOML = ".py", ".toml"
_VENDORED = {"node_modules", "site-packages", "__pycache__"}
_INIT = "/__init__.py"
_MOST_PLACES = 10  # of packages with the same name
_BUILT = {"build", "dist"}
# These have skills.
_AGENT_FOLDERS = {".agents", ".claude", ".codex", ".gemini", ".github", ".opencode"}


@record
class FileKind:
    """A kind of files that may hold suites. Files that match a pattern are candidates in every folder."""

    suffix: str
    patterns: tuple[str, ...]


SCRIPTS = FileKind(PYTHON, PATTERNS)
TEST_SETS = FileKind(TOML, ("*.testset.toml",))


@record
class Candidate:
    """A file to look at, relative to the root.

    `named`: the user named the file itself.
    """

    path: str
    why: str
    named: bool = False


@dataclass(slots=True)
class ProjectFiles:
    """The files of the project in `root`, relative to it. They are listed once, when they are first needed."""

    root: Path
    _listed: FileList | None = field(default=None, init=False)

    async def list_all(self) -> FileList:
        """All files."""
        if self._listed is None:
            self._listed = FileList(self.root, await git.list_files(self.root))
        return self._listed


@record
class FileList:
    """The files of a project. `of_git`: those that git tracks or doesn't ignore; None outside of a repository."""

    root: Path
    of_git: tuple[str, ...] | None

    def __iter__(self) -> Iterator[str]:
        """All files; outside of a repository, those of `_walk_files`."""
        return _walk_files(self.root, self.root) if self.of_git is None else iter(self.of_git)

    def find_packages(self) -> dict[str, list[str]]:
        """The folders that hold top-level packages, by the name of the package; none outside of a repository.

        In a workspace, they are installed from there.
        """
        folders = {name[: -len(_INIT)] for name in self.of_git or () if name.endswith(_INIT) and not is_vendored(name)}
        packages: dict[str, list[str]] = {}
        for folder in sorted(folders):
            parent, _, name = folder.rpartition("/")
            if parent not in folders and len(places := packages.setdefault(name, [])) < _MOST_PLACES:
                places.append(parent)
        return packages

    def list_below(self, folder: str) -> Iterable[str]:
        """The files below a folder: those of git, or all if git has none there, as in an ignored folder."""
        start = "" if folder == os.curdir else f"{folder}/"
        listed = [name for name in self.of_git or () if name.startswith(start)]
        return listed or _walk_files(self.root / folder, self.root)


async def find_candidates(
    files: ProjectFiles, paths: Iterable[str], *, origin: str, kind: FileKind = SCRIPTS
) -> tuple[Candidate, ...]:
    """The files to look at, sorted, each once.

    Args:
        files: the project's.
        paths: files and folders relative to the root; without any, the default places.
        origin: where they were set.
        kind: which files.

    Raises:
        UsageError: a path does not exist or is a file that can't hold suites.
    """
    paths = tuple(paths)
    # Without a folder, git need not list the files of the project.
    listed = await files.list_all() if not paths or _has_folder(files.root, paths) else FileList(files.root, None)
    candidates = _named_candidates(listed, paths, origin=origin) if paths else _default_candidates(listed, kind)
    by_path: dict[str, Candidate] = {}
    for candidate in candidates:
        # A named file counts as named, also if a folder that is named has it, too.
        if candidate.path.endswith(kind.suffix) and (candidate.named or candidate.path not in by_path):
            by_path[candidate.path] = candidate
    return tuple(by_path[path] for path in sorted(by_path))


def _default_candidates(listed: Iterable[str], kind: FileKind) -> Iterator[Candidate]:
    """The candidates in the default places. A project may have tens of thousands of files, so names are only split
    where that is needed.
    """
    patterns = {pattern: re.compile(translate(pattern)) for pattern in kind.patterns}
    for path in listed:
        if not path.endswith(kind.suffix):
            continue
        # With a slash in front, the folder at the root is found as well.
        start, folder, _ = f"/{path}".partition(f"/{DEFAULT_FOLDER}/")
        name = path[path.rfind("/") + 1 :]
        if folder:
            why = f"in {start[1:]}{folder}" if start else f"in {DEFAULT_FOLDER}/"
        elif pattern := next((each for each, regex in patterns.items() if regex.match(name)), None):
            why = f"named {pattern}"
        else:
            continue
        if not is_vendored(path):
            yield Candidate(path, why)


def is_vendored(path: str) -> bool:
    """Whether a file belongs to an installed package."""
    return not _VENDORED.isdisjoint(path.split("/"))


def _has_folder(root: Path, paths: Iterable[str]) -> bool:
    return any(Path(os.path.normpath(root / path)).is_dir() for path in paths)


def _named_candidates(files: FileList, paths: Iterable[str], *, origin: str) -> Iterator[Candidate]:
    for path in paths:
        full = Path(os.path.normpath(files.root / path))
        relative = Path(os.path.relpath(full, files.root)).as_posix()
        if full.is_dir():
            for each in files.list_below(relative):
                yield Candidate(each, f"in {relative}/")
        elif full.is_file() and full.suffix in (PYTHON, TOML):
            yield Candidate(relative, f"named by {origin}", named=True)
        else:
            problem = "is neither a Python file nor a TOML file" if full.exists() else "does not exist"
            raise UsageError(f"{path} {problem} (named by {origin})", advice=_advise(files.root, path))


def _advise(root: Path, path: str) -> str:
    """What to write instead of a path that is not a file of suites."""
    file, _, suite = path.rpartition(":")
    if file and suite and (root / file).is_file():
        return f"A suite of a file has two colons: {file}::{suite}."
    advice = "Name files and folders with suites. For other languages, add [[commands]] to the settings."
    is_path = "/" in path or Path(path).suffix or (root / path).exists()
    return advice if is_path else f"{advice} To run the suite of this name: --suite {path!r}."


def _walk_files(folder: Path, root: Path) -> Iterator[str]:
    """The files below a folder, without vendored or built folders, links to folders, and hidden folders but those of
    agents.
    """
    for current, folders, names in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if (not name.startswith(".") or name in _AGENT_FOLDERS)  # most hidden folders are caches and environments
            and name not in _VENDORED | _BUILT
            and not Path(current, name, "pyvenv.cfg").exists()
        ]
        place = Path(os.path.relpath(current, root)).as_posix()
        yield from names if place == os.curdir else (f"{place}/{name}" for name in names)


def open_nonblocking(path: str, flags: int) -> int:
    """Open a file; a pipe without a writer doesn't block."""
    return os.open(path, flags | os.O_NONBLOCK)
