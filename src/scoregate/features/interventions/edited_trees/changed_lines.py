"""The lines of files that differ from a commit."""

from __future__ import annotations

import re
from pathlib import Path

from scoregate.errors import UsageError
from scoregate.kernel.host import git

_HUNK = re.compile(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


async def list_changed_lines(root: Path, commit: str) -> dict[str, list[range]]:
    """The lines that differ from a commit, from 1, by the paths of files from the top of the repository.

    Raises:
        UsageError: there is no such commit.
    """
    if await git.resolve_commit(root, commit) is None:
        raise UsageError(f"--since {commit!r:.100} is no commit", advice=f"Check its spelling, or {git.FETCH_ADVICE}.")
    diff = await git.read_output(
        root, "diff", "--unified=0", "--no-renames", "--no-color", "--no-ext-diff", "--no-prefix", commit, "--"
    )
    changed: dict[str, list[range]] = {}
    lines: list[range] = []
    for line in (diff or b"").split(b"\n"):
        if line.startswith(b"+++ "):
            lines = changed.setdefault(line[4:].rstrip(b"\t").decode("utf-8", "replace"), [])
        elif match := _HUNK.match(line):
            first, count = int(match[1]), int(match[2] or 1)
            lines.append(range(first, first + count))
    return changed
