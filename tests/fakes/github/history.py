"""Questions to a graph of commits: who stands behind whom, and where two lines parted."""

from __future__ import annotations

from heapq import heappop, heappush

from tests.fakes.github.objects import Commit, Objects


def ancestors(objects: Objects, tip: str) -> set[str]:
    """The tip and everything before it."""
    seen, waiting = {tip}, [tip]
    while waiting:
        parents = objects.commits[waiting.pop()].parents
        fresh = [sha for sha in parents if sha in objects.commits and sha not in seen]
        seen.update(fresh)
        waiting.extend(fresh)
    return seen


def log(objects: Objects, tip: str, without: set[str] = frozenset()) -> list[Commit]:  # type: ignore[assignment]
    """The tip's history, newest first, as the commits page shows it."""
    first = objects.commits[tip]
    seen, heap, found = {tip}, [(*age(first), tip)], []
    while heap:
        commit = objects.commits[heappop(heap)[-1]]
        if commit.sha not in without:
            found.append(commit)
        for sha in commit.parents:
            if sha in objects.commits and sha not in seen:
                seen.add(sha)
                heappush(heap, (*age(objects.commits[sha]), sha))
    return found


def age(commit: Commit) -> tuple[float, int]:
    return -commit.date.timestamp(), -commit.generation


def merge_base(objects: Objects, one: str, other: str) -> str | None:
    """The best common ancestor: the deepest one cannot stand behind another."""
    common = ancestors(objects, one) & ancestors(objects, other)
    return max(common, key=lambda sha: objects.commits[sha].generation, default=None)
