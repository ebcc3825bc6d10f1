"""Which suites are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase


def is_wanted(suite: str, globs: Iterable[str]) -> bool:
    """Whether a suite's id matches one of the globs; without any, every suite is wanted."""
    globs = tuple(globs)
    return not globs or any(fnmatchcase(suite, glob) for glob in globs)
