"""Issues that are no pull requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from tests.fakes.github.model import now

if TYPE_CHECKING:
    from tests.fakes.github.repository import Repository


@dataclass
class Issue:
    repository: Repository
    number: int
    id: int
    title: str
    body: str
    login: str
    state: str = "open"
    state_reason: str | None = None
    created_at: datetime = field(default_factory=now)
    updated_at: datetime = field(default_factory=now)


def open_issue(repo: Repository, title: str, body: str, login: str = "octocat") -> Issue:
    """Open an issue; pull requests share its sequence of numbers."""
    number = max((*repo.pulls, *repo.issues), default=0) + 1
    made = Issue(repo, number, repo.github.next_id(), title, body, login)
    repo.issues[number] = made
    return made
