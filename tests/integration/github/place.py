"""A repository on the fake, and the connection that a job on an event has to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.fakes.github import Artifact, GitHub, Repository, Run, events
from tests.runs import change_run
from tests.unit.report.runs import ExampleSuite, Score, Trial, make_run

from scoregate.kernel.job.github.client import Api, open_api
from scoregate.kernel.job.github.context import Connection, read_github_job
from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.types.runs.run import Run as Record

NAME = "scoregate-evals"
RIGHTS = {"contents": "write", "actions": "read", "pull_requests": "write", "checks": "write"}


@dataclass
class Place:
    """The repository and job of a test. `slept` has the requested pauses; none is made."""

    repo: Repository
    folder: Path
    slept: list[float] = field(default_factory=list)

    @property
    def github(self) -> GitHub:
        return self.repo.github

    @property
    def main(self) -> list[str]:
        """The commits of main, the oldest first."""
        found, sha = [], self.repo.branch("main")
        while sha:
            found.append(sha)
            sha = next(iter(self.repo.objects.commits[sha].parents), "")
        return found[::-1]

    @asynccontextmanager
    async def api(self, *, login: str = "github-actions[bot]", **rights: str) -> AsyncIterator[Api]:
        token = self.github.token(login, **(rights or RIGHTS))
        async with open_api(self.github.url, self.repo.full_name, token) as api:
            yield replace(api, sleep=self._sleep)

    @asynccontextmanager
    async def connection(
        self, event: events.Event | None = None, run: Run | None = None, **rights: str
    ) -> AsyncIterator[Connection]:
        """The connection of a job; by default on a push to main."""
        event = event or events.push(self.repo)
        github = read_github_job({"GITHUB_ACTIONS": "true", **event.environment(self.folder, run)})
        assert github is not None
        async with self.api(**rights) as api:
            yield Connection(github, api, "evals")

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def stored(self, commit: str | None, score: float = 1.0, *, cases: int = 3, **fields: Any) -> Path:
        """The folder of a run of a commit."""
        trials = [Trial(f"c{index}", [Score("is-equals", score)]) for index in range(cases)]
        run = make_run(ExampleSuite("demo", trials), commit="0", **fields)
        return self.written(change_run(run, commit=commit))

    def written(self, run: Record) -> Path:
        folder = self.folder / f"stored-{len(list(self.folder.iterdir()))}" / "run"
        with RunWriter(folder) as writer:
            for case in run.cases:
                writer.add(case)
            writer.finish(run)
        return folder

    def upload(
        self, commit: str, content: Path | bytes | Mapping[str, bytes | str] | None = None, **options: Any
    ) -> Artifact:
        """What a workflow's run on a commit has left."""
        run = {name: options.pop(name) for name in ("head_branch", "head_repository", "event") if name in options}
        workflow_run = self.repo.workflow_run(head_sha=commit, **run)
        return workflow_run.upload(options.pop("name", NAME), content or self.stored(commit, **options))
