"""Finds what a path names: commits by sha, short sha, branch or tag."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.fakes.github.exchange import Call, Refused
from tests.fakes.github.objects import Commit
from tests.fakes.github.repository import Repository


def resolved(repo: Repository, name: str) -> Commit | None:
    """The commit that a branch, a tag, a whole ref, a pull request's ref or a (short) sha names."""
    for ref in (f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}", name):
        if ref in repo.refs:
            return repo.objects.commits[repo.refs[ref]]
    if re.fullmatch(r"[0-9a-f]{7,40}", name):
        return next((commit for sha, commit in repo.objects.commits.items() if sha.startswith(name)), None)
    return None


def commit_at(repo: Repository, name: str) -> Commit:
    resolved_names = resolved(repo, name)
    if resolved_names is None:
        raise Refused(422, f"No commit found for SHA: {name}")
    return resolved_names


def network(call: Call, name: str) -> Commit:
    """A commit of this repository or, as "owner:branch", of a fork; 404 where there is none."""
    owner, colon, branch = name.rpartition(":")
    repo = next((fork for fork in family(call) if fork.owner == owner), None) if colon else call.repo
    found = resolved(repo, branch if colon else name) if repo else None
    if found is None:
        raise Refused(404, "Not Found")
    return found


def family(call: Call) -> list[Repository]:
    return [repo for repo in call.github.repositories.values() if repo.objects is call.repo.objects]


def not_empty(handler: Callable[[Call], object]) -> Callable[[Call], object]:
    """A repository without a commit refuses git operations."""

    def guarded(call: Call) -> object:
        if not call.repo.refs:
            raise Refused(409, "Git Repository is empty.")
        return handler(call)

    return guarded
