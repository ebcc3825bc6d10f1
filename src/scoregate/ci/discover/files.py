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
    """Files that may hold suites: how their names end, and the patterns of those that do wherever they are."""

    suffix: str
    patterns: tuple[str, ...]


SCRIPTS = FileKind(PYTHON, PATTERNS)
TEST_SETS = FileKind(TOML, ("*.testset.toml",))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file to look at, relative to the root.

    `named`: the user named the file itself. `sure`: it is a suite by its folder, not only by its name.
    """

    path: str
    why: str
    named: bool = False
    sure: bool = False


async def find_candidates(
    root: Path, paths: Iterable[str], *, origin: str, sort: FileKind = SCRIPTS
) -> tuple[Candidate, ...]:
    """The files to look at, sorted, each once.

    Args:
        root: the project.
        paths: files and folders relative to the root; without any, the default places.
        origin: where they were set.
        sort: which files.

    Raises:
        UsageError: a path does not exist or is a file that can't hold suites.
    """
    listed = await git.list_files(root)
    paths = tuple(paths)
    found = (
        _named_candidates(root, paths, origin=origin, listed=listed)
        if paths
        else _default_candidates(root, listed, sort)
    )
    chosen: dict[str, Candidate] = {}
    for candidate in found:
        is_ours = candidate.path.endswith(sort.suffix)
        if is_ours and (candidate.named or candidate.path not in chosen):
            chosen[candidate.path] = candidate
    return tuple(chosen[path] for path in sorted(chosen))


def _default_candidates(root: Path, listed: Iterable[str] | None, sort: FileKind) -> Iterator[Candidate]:
    for path in _walk_files(root, root) if listed is None else filter(_is_not_vendored, listed):
        parts = PurePosixPath(path).parts
        if parts[0] == DEFAULT_FOLDER and len(parts) > 1:
            yield Candidate(path, f"in {DEFAULT_FOLDER}/", sure=True)
        elif pattern := next((each for each in sort.patterns if fnmatchcase(parts[-1], each)), None):
            yield Candidate(path, f"named {pattern}")


def _named_candidates(
    root: Path, paths: Iterable[str], *, origin: str, listed: Iterable[str] | None
) -> Iterator[Candidate]:
    for path in paths:
        full = Path(os.path.normpath(root / path))
        relative = Path(os.path.relpath(full, root)).as_posix()
        if full.is_dir():
            inside = _files_below(relative, listed or ()) or tuple(_walk_files(full, root))
            yield from (Candidate(each, f"in {relative}/", sure=True) for each in inside)
        elif full.is_file() and full.suffix in (PYTHON, TOML):
            yield Candidate(relative, f"named by {origin}", named=True, sure=True)
        else:
            problem = "is neither a Python file nor a TOML file" if full.exists() else "does not exist"
            advice = "Name files and folders with suites. For other languages, add [[commands]] to the settings."
            raise UsageError(f"{path} ({origin}) {problem}", advice=advice)


def _files_below(folder: str, listed: Iterable[str]) -> tuple[str, ...]:
    return tuple(path for path in listed if folder == "." or path.startswith(f"{folder}/"))


def _is_not_vendored(path: str) -> bool:
    return _VENDORED.isdisjoint(PurePosixPath(path).parts)


def _walk_files(folder: Path, root: Path) -> Iterator[str]:
    """The files below a folder, without hidden, vendored or built folders and links to folders."""
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not _is_excluded(Path(here, name))]
        yield from (Path(os.path.relpath(Path(here, name), root)).as_posix() for name in files)


def _is_excluded(folder: Path) -> bool:
    name = folder.name
    return name.startswith(".") or name in _VENDORED | _BUILT or (folder / "pyvenv.cfg").exists()
