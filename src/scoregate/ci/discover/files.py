"""The files that may hold suites: the ones that the user named, else the ones in the default places."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from scoregate.ci import git
from scoregate.errors import UsageError

DEFAULT_FOLDER = "evals"
PATTERNS = ("eval_*.py", "*_eval.py", "*.eval.py")
PYTHON, TOML = ".py", ".toml"
_VENDORED = {"node_modules", "site-packages", "__pycache__"}
_BUILT = {"build", "dist"}


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of files that may hold suites. Files that match a pattern are candidates in every folder."""

    suffix: str
    patterns: tuple[str, ...]


SCRIPTS = FileKind(PYTHON, PATTERNS)
TEST_SETS = FileKind(TOML, ("*.testset.toml",))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file to look at, relative to the root.

    `named`: the user named the file itself. `sure`: its folder, and not only its name, says that it is a suite.
    """

    path: str
    why: str
    named: bool = False
    sure: bool = False


async def find_candidates(
    root: Path, paths: Iterable[str], *, origin: str, kind: FileKind = SCRIPTS
) -> tuple[Candidate, ...]:
    """The files to look at, sorted, each once.

    Args:
        root: the project.
        paths: files and folders relative to the root; without any, the default places.
        origin: where they were set.
        kind: which files.

    Raises:
        UsageError: a path does not exist or is a file that can't hold suites.
    """
    listed = await git.list_files(root)
    paths = tuple(paths)
    if paths:
        candidates = _named_candidates(root, paths, origin=origin, listed=listed)
    else:
        candidates = _default_candidates(root, listed, kind)
    by_path: dict[str, Candidate] = {}
    for candidate in candidates:
        if candidate.path.endswith(kind.suffix) and (candidate.named or candidate.path not in by_path):
            by_path[candidate.path] = candidate
    return tuple(by_path[path] for path in sorted(by_path))


def _default_candidates(root: Path, listed: Iterable[str] | None, kind: FileKind) -> Iterator[Candidate]:
    for path in _walk_files(root, root) if listed is None else listed:
        parts = PurePosixPath(path).parts
        if not _VENDORED.isdisjoint(parts):
            continue
        if parts[0] == DEFAULT_FOLDER and len(parts) > 1:
            yield Candidate(path, f"in {DEFAULT_FOLDER}/", sure=True)
        elif pattern := next((each for each in kind.patterns if fnmatchcase(parts[-1], each)), None):
            yield Candidate(path, f"named {pattern}")


def _named_candidates(
    root: Path, paths: Iterable[str], *, origin: str, listed: Iterable[str] | None
) -> Iterator[Candidate]:
    for path in paths:
        full = Path(os.path.normpath(root / path))
        relative = Path(os.path.relpath(full, root)).as_posix()
        if full.is_dir():
            inside = [each for each in listed or () if relative == "." or each.startswith(f"{relative}/")]
            for each in inside or _walk_files(full, root):
                yield Candidate(each, f"in {relative}/", sure=True)
        elif full.is_file() and full.suffix in (PYTHON, TOML):
            yield Candidate(relative, f"named by {origin}", named=True, sure=True)
        else:
            problem = "is neither a Python file nor a TOML file" if full.exists() else "does not exist"
            advice = "Name files and folders with suites. For other languages, add [[commands]] to the settings."
            raise UsageError(f"{path} {problem} (named by {origin})", advice=advice)


def _walk_files(folder: Path, root: Path) -> Iterator[str]:
    """The files below a folder, without hidden, vendored or built folders and links to folders."""
    for here, folders, files in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and name not in _VENDORED | _BUILT
            and not Path(here, name, "pyvenv.cfg").exists()
        ]
        yield from (Path(os.path.relpath(Path(here, name), root)).as_posix() for name in files)
