"""Which files the scripts of a run did not read, as far as that is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scoregate.kernel.judge.archive import RunHead
from scoregate.kernel.types.relative_paths import is_below, matches_path
from scoregate.kernel.types.runs.dependencies import ROWS, Dependency, RunDependencies


def find_doubt(head: RunHead) -> str:
    """Why it is unknown what the suites of a run read; empty if it is known.

    Args:
        head: the run without its cases.
    """
    if not head.is_unselected or head.end.stopped:
        return "only a part of the suites or cases ran"
    if not head.dependencies.is_recorded:
        return "the run recorded nothing (it needs `affected`)"
    for name in sorted({script.name for script in head.scripts}):
        parts = head.dependencies.find_scripts(name)
        why = next((part.unknown or part.native for part in parts if part.unknown or part.native), "")
        if not parts or why:
            return f"{name}: {why or 'it has no record'}"
    return ""


def find_unread(dependencies: RunDependencies, paths: Iterable[str]) -> Iterator[str]:
    """The files that no script of a run read.

    Args:
        dependencies: what the scripts used.
        paths: the files, relative to the top of the repository.
    """
    read = [each for each in dependencies.table if each.kind in ("file", ROWS)]
    files = {each.path for each in read} | dependencies.shared.keys()
    files |= {each.digest.partition(">")[2] for each in read}  # where a link led to
    others = [each for each in dependencies.table if each.kind in ("tree", "inputs")]
    for path in paths:
        if path not in files and not any(_holds(each, path) for each in others):
            yield path


def _holds(dependency: Dependency, path: str) -> bool:
    is_tree = dependency.kind == "tree"
    return is_below(path, dependency.path) if is_tree else matches_path(path, dependency.path)
