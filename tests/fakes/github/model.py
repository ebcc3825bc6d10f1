"""The things a repository has besides its commits; tests read and change them directly."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.fakes.github.history import merge_base

if TYPE_CHECKING:
    from tests.fakes.github.repository import Repository


def now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def stamp(moment: datetime | None) -> str | None:
    """A time as GitHub writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


@dataclass
class Comment:
    id: int
    issue: int
    body: str
    login: str
    created_at: datetime = field(default_factory=now)
    updated_at: datetime = field(init=False)
    reactions: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.updated_at = self.created_at

    def edit(self, body: str) -> None:
        """Change the text, at least a second later."""
        self.body, self.updated_at = body, self.created_at + timedelta(seconds=1)


@dataclass
class Status:
    """A status that a token set on a commit."""

    id: int
    sha: str
    state: str
    context: str
    description: str | None
    target_url: str | None
    login: str


@dataclass
class CheckRun:
    id: int
    name: str
    head_sha: str
    app: str
    status: str = "queued"
    conclusion: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    details_url: str | None = None
    external_id: str = ""
    output: dict[str, Any] = field(default_factory=dict)
    annotations: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class LabelEvent:
    """A label that was set or removed."""

    id: int
    event: str
    label: str
    login: str
    created_at: datetime


@dataclass
class Activity:
    """A branch that was created, moved or deleted by a push, as GitHub remembers it."""

    id: int
    ref: str
    before: str
    after: str
    activity_type: str
    timestamp: datetime = field(default_factory=now)


@dataclass
class Pull:
    """A pull request; its head follows the branch while it is open, its base stays at the commit it had."""

    repository: Repository
    number: int
    id: int
    head_ref: str
    head_repository: Repository
    base_ref: str
    base_sha: str
    last_head: str
    title: str = "A change"
    login: str = "octocat"
    state: str = "open"
    merged: bool = False
    locked: bool = False
    gone: bool = False
    created_at: datetime = field(default_factory=now)
    labels: list[str] = field(default_factory=list)
    events: list[LabelEvent] = field(default_factory=list)

    def label(self, name: str, login: str, *, at: datetime | None = None) -> None:
        """Set a label."""
        self.labels.append(name)
        self.events.append(LabelEvent(self.repository.github.next_id(), "labeled", name, login, at or now()))

    def unlabel(self, name: str, login: str, *, at: datetime | None = None) -> None:
        """Remove a label."""
        self.labels.remove(name)
        self.events.append(LabelEvent(self.repository.github.next_id(), "unlabeled", name, login, at or now()))

    @property
    def head_sha(self) -> str:
        tip = self.head_repository.refs.get(f"refs/heads/{self.head_ref}")
        self.last_head = tip if tip and self.state == "open" else self.last_head
        return self.last_head

    @property
    def merge_sha(self) -> str:
        """The commit that a `pull_request` workflow runs on: base and head merged, at refs/pull/N/merge."""
        repo, ref = self.repository, f"refs/pull/{self.number}/merge"
        pair = repo.branch(self.base_ref), self.head_sha
        if ref not in repo.refs or repo.objects.commits[repo.refs[ref]].parents != pair:
            message = f"Merge {pair[1]} into {pair[0]}"
            repo.refs[ref] = repo.commit(None, parents=pair, message=message, files=self._changes(*pair))
        return repo.refs[ref]

    def _changes(self, base: str, head: str) -> dict[str, bytes | None]:
        """What the head did to its files since it left the base."""
        parted = merge_base(self.repository.objects, base, head)
        old, new = self.repository.files(parted) if parted else {}, self.repository.files(head)
        kept = self.repository.files(base)
        changed = {path: new.get(path) for path in {**old, **new} if old.get(path) != new.get(path)}
        return {path: content for path, content in changed.items() if content is not None or path in kept}

    @property
    def comments(self) -> list[Comment]:
        return [comment for comment in self.repository.comments.values() if comment.issue == self.number]

    def comment(self, body: str, login: str = "octocat") -> Comment:
        """Add a comment."""
        made = Comment(self.repository.github.next_id(), self.number, body, login)
        self.repository.comments[made.id] = made
        return made
