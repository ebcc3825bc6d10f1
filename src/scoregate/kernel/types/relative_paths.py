"""Relative paths: in which folder they are, and which globs they match."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder, or in it; the empty one is the top."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def join_path(folder: str, name: str) -> str:
    """A path in a folder of the project, which may be the project itself."""
    return name if folder == "." else f"{folder}/{name}"


def matches_path(path: str, pattern: str) -> bool:
    """Whether a path matches a glob, in which `*` stays within a folder and `**` does not.

    Args:
        path: the path, with slashes.
        pattern: the glob.
    """
    return _match_parts(path.split("/"), pattern.split("/"))


def _match_parts(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    """Match part by part; the table keeps a pattern with many `**` fast."""
    reached = {0}
    for pattern in patterns:
        if pattern == "**":
            reached = set(range(min(reached), len(parts) + 1)) if reached else set()
        else:
            reached = {index + 1 for index in reached if index < len(parts) and fnmatchcase(parts[index], pattern)}
    return len(parts) in reached
