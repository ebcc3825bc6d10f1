"""The branch that keeps runs: one file for each commit that was measured, by key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from scoregate.ci.github.git_data import Tip

BRANCH = "scoregate-data"
KEPT = 100
_NAME = re.compile(r"(?P<key>[^/]+)/(?P<time>\d{14})-(?P<commit>[0-9a-f]{40,64})\.zip")


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run on the branch: its commit, its time as a number that grows, its blob."""

    commit: str
    time: str
    blob: str


def stored_runs(tip: Tip, key: str) -> Iterator[StoredRun]:
    """The runs of a key, the newest first."""
    for path in sorted(tip.files, reverse=True):
        found = _NAME.fullmatch(path)
        if found and found["key"] == key:
            yield StoredRun(found["commit"], found["time"], tip.files[path])


def path_of(key: str, time: str, commit: str) -> str:
    """Where a run is kept.

    Args:
        time: 14 digits, `YYYYMMDDhhmmss`.
    """
    return f"{key}/{time}-{commit}.zip"
