"""The lines of files that differ from a commit."""

from __future__ import annotations

import os
import re
from pathlib import Path

from scoregate.errors import UsageError
from scoregate.kernel.host import git

_EVERYTHING = range(1, 1 << 31)
_HUNK = re.compile(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


async def list_own_changes(
    root: Path, base_branch: str | None, base_commit: str | None = None
) -> dict[str, list[range]] | None:
    """The lines that the checked-out branch changes, like `list_changed_lines`.

    Args:
        root: the project.
        base_branch: the branch that it left; None for the default.
        base_commit: the commit that a job compares with; None for that where the branch was left.

    Returns:
        The lines; None if the commit before the change is not here. Nothing is changed without any commit.
    """
    is_here = base_commit is not None and await git.resolve_commit(root, base_commit) is not None
    base = base_commit if is_here else await git.default_branch(root, base_branch)
    if base is not None:
        commit = await git.merge_base(root, base, "HEAD")
    else:
        commit = await git.head_commit(root) if base_commit is None else None
    if commit is None:
        return None if base_commit is not None else {}
    return await list_changed_lines(root, commit)


async def list_changed_lines(root: Path, commit: str) -> dict[str, list[range]]:
    """The lines that differ from a commit, from 1, by the paths of files from the top of the repository.

    Raises:
        UsageError: there is no such commit.
    """
    if await git.resolve_commit(root, commit) is None:
        raise UsageError(f"--since {commit!r:.100} is no commit", advice=f"Check its spelling, or {git.FETCH_ADVICE}.")
    quoted = ("-c", "core.quotePath=false", "-c", "diff.relative=false")
    options = ("--unified=0", "--no-renames", "--no-color", "--no-ext-diff", "--no-prefix")
    diff = await git.read_output(root, *quoted, "diff", *options, commit, "--")
    new = await git.read_output(root, "ls-files", "--full-name", "--others", "--exclude-standard", "-z")
    changed = {os.fsdecode(path): [_EVERYTHING] for path in (new or b"").split(b"\0") if path}
    lines, is_head = list[range](), True
    for line in (diff or b"").split(b"\n"):
        if line.startswith(b"diff --git "):
            is_head = True
        elif is_head and line.startswith(b"+++ "):
            lines = changed.setdefault(os.fsdecode(line[4:].rstrip(b"\t")), [])
        elif match := _HUNK.match(line):
            is_head = False
            first, count = int(match[1]), int(match[2] or 1)
            lines.append(range(first, first + count))
    return changed
