"""A repository on the fake, and how a test fills it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fakes.github.actions import Artifact, Run
from tests.fakes.github.issues import Issue
from tests.fakes.github.model import Activity, CheckRun, Comment, Pull, Status, now
from tests.fakes.github.objects import Entry, Objects
from tests.fakes.github.receive import receive

if TYPE_CHECKING:
    from tests.fakes.github.server import GitHub


@dataclass
class Repository:
    """A repository; refs are by their whole names ("refs/heads/main"), everything else by id or number.

    `roles` are those of collaborators, by login.
    """

    github: GitHub
    full_name: str
    id: int
    private: bool = False
    default_branch: str = "main"
    parent: Repository | None = None
    objects: Objects = field(default_factory=Objects)
    refs: dict[str, str] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    statuses: list[Status] = field(default_factory=list)
    check_runs: dict[int, CheckRun] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)
    artifacts: dict[int, Artifact] = field(default_factory=dict)
    activities: list[Activity] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)

    @property
    def owner(self) -> str:
        return self.full_name.partition("/")[0]

    @property
    def name(self) -> str:
        return self.full_name.partition("/")[2]

    def branch(self, name: str) -> str:
        """The commit that a branch points to."""
        return self.refs[f"refs/heads/{name}"]

    def commit(
        self,
        branch: str | None = "main",
        *,
        parents: Sequence[str] | None = None,
        files: Mapping[str, bytes | str | None] | None = None,
        message: str | None = None,
        date: datetime | None = None,
    ) -> str:
        """Commit onto a branch (None: onto none), by default after its tip, else after nothing.

        The `files` are laid over the first parent's; None takes one away. Returns the sha.
        """
        ref = f"refs/heads/{branch}"
        if parents is None:
            parents = [self.refs[ref]] if ref in self.refs else []
        tree = self.objects.files(self.objects.commits[parents[0]].tree) if parents else {}
        for path, content in (files or {}).items():
            if content is None:
                del tree[path]
            else:
                data = content.encode() if isinstance(content, str) else content
                tree[path] = Entry("100644", self.objects.add_blob(data))
        words = message if message is not None else f"Commit {len(self.objects.commits) + 1}"
        sha = self.objects.add_commit(self.objects.add_tree(tree), parents, message=words, date=date or now())
        if branch is not None:
            self.refs[ref] = sha
        return sha

    def push(self, folder: Path) -> str:
        """Bring the branches of a real git repository here, with every commit under the sha that it has there.

        Returns:
            The commit that is checked out there.
        """
        known = dict(self.refs)
        head = receive(self.objects, self.refs, folder)
        for ref, sha in self.refs.items():
            if ref.startswith("refs/heads/") and known.get(ref) != sha:
                kind = "push" if ref in known else "branch_creation"
                made = Activity(len(self.activities) + 1, ref, known.get(ref, "0" * 40), sha, kind)
                self.activities.append(made)
        return head

    def files(self, at: str) -> dict[str, bytes]:
        """The files at a branch or commit, with their contents."""
        sha = self.refs.get(f"refs/heads/{at}", at)
        entries = self.objects.files(self.objects.commits[sha].tree)
        return {path: self.objects.blobs[entry.sha] for path, entry in entries.items()}

    def pull_request(
        self,
        head: str,
        base: str = "main",
        *,
        head_repository: Repository | None = None,
        number: int | None = None,
        login: str = "octocat",
        title: str = "A change",
    ) -> Pull:
        """Open a pull request of a branch of this repository, or of a fork's."""
        source = head_repository or self
        number = number or max((*self.pulls, *self.issues), default=0) + 1
        made = Pull(
            self,
            number,
            self.github.next_id(),
            head,
            source,
            base,
            self.branch(base),
            source.branch(head),
            title,
            login,
        )
        self.pulls[number] = made
        return made

    def workflow_run(
        self,
        *,
        event: str = "push",
        head_branch: str = "main",
        head_sha: str | None = None,
        head_repository: Repository | None = None,
        name: str = "evals",
        path: str = ".github/workflows/evals.yml",
        conclusion: str | None = "success",
        run_attempt: int = 1,
        created_at: datetime | None = None,
        login: str = "octocat",
    ) -> Run:
        """A workflow ran; without a conclusion it is still running."""
        source = head_repository or self
        sha, number = head_sha or source.branch(head_branch), self.github.next_id()
        status = "completed" if conclusion else "in_progress"
        started = created_at or now()
        made = Run(
            self, number, event, sha, head_branch, source, name, path, status, conclusion, run_attempt, started, login
        )
        self.runs[number] = made
        return made
