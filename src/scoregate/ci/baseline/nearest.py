"""Of the commits that have a stored run, the one that says most of a base."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import count

from scoregate.ci.github.answers import text_at
from scoregate.ci.github.api import Api
from scoregate.ci.github.base import Base
from scoregate.errors import GitHubRefused

MOST_ANCESTORS = 300


@dataclass(frozen=True, slots=True)
class Nearest:
    """A commit, and in words how it lies to the base."""

    commit: str
    note: str


async def nearest(base: Base, stored: Sequence[str], api: Api) -> Nearest | None:
    """The base's own commit, else its nearest ancestor, else the newest; None where nothing is stored.

    Args:
        stored: commits that have a run, the newest run first.
    """
    if not stored:
        return None
    if base.commit is None:
        return Nearest(stored[0], f"the newest of {base.branch}")
    if base.commit in stored:
        return Nearest(base.commit, "exact")
    behind = await _ancestor(base.commit, set(stored), api)
    if behind is not None:
        commit, number = behind
        return Nearest(commit, f"{number} commit{'s' if number > 1 else ''} before the base")
    return Nearest(stored[0], f"the newest of {base.branch}, whose relation to the base {base.commit[:7]} is unknown")


async def _ancestor(commit: str, stored: Collection[str], api: Api) -> tuple[str, int] | None:
    numbers = count()
    try:
        async for each in api.pages("commits", sha=commit):
            number = next(numbers)
            if (sha := text_at(each, "sha")) in stored:
                return sha, number
            if number >= MOST_ANCESTORS:
                break
    except GitHubRefused:
        return None
    return None
