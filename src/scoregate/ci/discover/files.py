"""Which files are looked at: those that the user named, else those in the usual places."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from scoregate.ci import git
from scoregate.errors import UsageError

FOLDER = "evals"
PATTERNS = ("eval_*.py", "*_eval.py", "*.eval.py")
PYTHON, TOML = ".py", ".toml"
_VENDORED = {"node_modules", "site-packages", "__pycache__"}
_BUILT = {"build", "dist"}


@dataclass(frozen=True, slots=True)
class Sort:
    """Files that may hold suites: how their names end, and the patterns of those that do wherever they are."""

    suffix: str
    patterns: tuple[str, ...]


SCRIPTS = Sort(PYTHON, PATTERNS)
TEST_SETS = Sort(TOML, ("*.testset.toml",))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file to look at, relative to the root.

    `named`: the user named the file itself. `sure`: its place and not its name alone says that it is a suite.
    """

    path: str
    why: str
    named: bool = False
    sure: bool = False


async def candidates(root: Path, paths: Iterable[str], *, origin: str, sort: Sort = SCRIPTS) -> tuple[Candidate, ...]:
    """The files to look at, sorted, each once.

    Args:
        paths: files and folders relative to the root; without any, the usual places. origin: where they were set.
        sort: which files.

    Raises:
        UsageError: a path does not exist or is a file that holds no suites.
    """
    listed = await git.listed_files(root)
    paths = tuple(paths)
    found = _named(root, paths, origin=origin, listed=listed) if paths else _usual(root, listed, sort)
    chosen: dict[str, Candidate] = {}
    for candidate in found:
        is_ours = candidate.path.endswith(sort.suffix)
        if is_ours and (candidate.named or candidate.path not in chosen):
            chosen[candidate.path] = candidate
    return tuple(chosen[path] for path in sorted(chosen))


def _usual(root: Path, listed: Iterable[str] | None, sort: Sort) -> Iterator[Candidate]:
    for path in _walked(root, root) if listed is None else filter(_is_own, listed):
        parts = PurePosixPath(path).parts
        if parts[0] == FOLDER and len(parts) > 1:
            yield Candidate(path, f"in {FOLDER}/", sure=True)
        elif pattern := next((each for each in sort.patterns if fnmatchcase(parts[-1], each)), None):
            yield Candidate(path, f"named {pattern}")


def _named(root: Path, paths: Iterable[str], *, origin: str, listed: Iterable[str] | None) -> Iterator[Candidate]:
    for path in paths:
        full = Path(os.path.normpath(root / path))
        relative = Path(os.path.relpath(full, root)).as_posix()
        if full.is_dir():
            inside = _inside(relative, listed or ()) or tuple(_walked(full, root))
            yield from (Candidate(each, f"in {relative}/", sure=True) for each in inside)
        elif full.is_file() and full.suffix in (PYTHON, TOML):
            yield Candidate(relative, f"named by {origin}", named=True, sure=True)
        else:
            told = "is neither a Python file nor one of TOML" if full.exists() else "does not exist"
            advice = (
                "Name files and folders of suites; those in other languages are run by [[commands]] in the settings."
            )
            raise UsageError(f"{path} ({origin}) {told}", advice=advice)


def _inside(folder: str, listed: Iterable[str]) -> tuple[str, ...]:
    return tuple(path for path in listed if folder == "." or path.startswith(f"{folder}/"))


def _is_own(path: str) -> bool:
    return _VENDORED.isdisjoint(PurePosixPath(path).parts)


def _walked(folder: Path, root: Path) -> Iterator[str]:
    """Files below a folder, but nothing hidden, vendored or built; links to folders are not followed."""
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not _left_out(Path(here, name))]
        yield from (Path(os.path.relpath(Path(here, name), root)).as_posix() for name in files)


def _left_out(folder: Path) -> bool:
    name = folder.name
    return name.startswith(".") or name in _VENDORED | _BUILT or (folder / "pyvenv.cfg").exists()
