"""Which folders belong to a workspace of uv, npm, pnpm or yarn."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import PurePosixPath

_MOST_PARTS, _MOST_GLOBS, _LONGEST_GLOB = 20, 1_000, 500


def matches_any(folder: PurePosixPath, globs: Iterable[object]) -> bool:
    """Whether a folder, relative to the top of the workspace, matches one of the globs; what is not text is ignored.

    `**` matches any number of folders. A glob with more than 20 parts, or more than 500 characters, matches nothing.
    """
    texts = (glob for glob in islice(globs, _MOST_GLOBS) if isinstance(glob, str) and len(glob) <= _LONGEST_GLOB)
    return any(_match_parts(folder.parts, PurePosixPath(text).parts) for text in texts)


def _match_parts(parts: tuple[str, ...], globs: tuple[str, ...]) -> bool:
    if len(globs) > _MOST_PARTS:
        return False
    matched = {0}  # how many parts the globs so far can match
    for glob in globs:
        if glob == "**":
            matched = set(range(min(matched), len(parts) + 1))
        else:
            matched = {count + 1 for count in matched if count < len(parts) and fnmatchcase(parts[count], glob)}
        if not matched:
            return False
    return len(parts) in matched
