"""A fork's pull request, what its first stage left, and the second stage in this process."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.github import Pull, events
from tests.integration.github.place import NAME, RIGHTS, Place

from scoregate.features.forks.publish import publish_fork_runs
from scoregate.features.steps import load_steps
from scoregate.kernel.job.job import open_job_context
from scoregate.kernel.job.untrusted_run import PublishedRun
from scoregate.kernel.judge.settings import Settings

SUITE = {"id": "demo", "label": "demo", "complete": True, "evaluators": {"e": {"id": "e"}}, "cases": 1}
HEAD = {
    "schema_version": 1,
    "id": "run",
    "started": 1.0,
    "finished": 2.0,
    "version": "0",
    "complete": True,
    "cases": 1,
    "suites": [SUITE],
}
CASE = {"suite": 0, "hash": "c0", "evaluations": {"e": {"score": 1.0, "threshold": {"gte": 0.5}}}}


@dataclass
class Stage:
    """One fork's pull request, open at its first stage's commit."""

    place: Place
    pull: Pull

    @classmethod
    def new(cls, place: Place) -> Stage:
        fork = place.github.repository("mallory/bot", fork_of=place.repo)
        fork.commit("change", parents=[place.main[2]])
        return cls(place, place.repo.pull_request("change", head_repository=fork))

    async def publish(self, *contents: bytes | Mapping[str, bytes | str] | Path, **names: Any) -> list[PublishedRun]:
        """The second stage's answer to artifacts; each under a name of its own."""
        place, pull = self.place, self.pull
        first = place.repo.workflow_run(
            event="pull_request", head_branch="change", head_sha=pull.head_sha, head_repository=pull.head_repository
        )
        for number, content in enumerate(contents):
            first.upload(names.get("name", f"{NAME}-{number}" if number else NAME), content)
        root = place.folder / "root"
        root.mkdir(exist_ok=True)
        environ = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_TOKEN": place.github.token(**RIGHTS),
            "GITHUB_STEP_SUMMARY": str(root / "summary"),
            "GITHUB_OUTPUT": str(root / "output"),
            **events.workflow_run(first).environment(place.folder),
        }
        async with open_job_context(root, environ, Settings(**names.get("settings", {}))) as context:
            return [each async for each in publish_fork_runs(context, load_steps)]


def record(
    head: Any = None, cases: list[Any] | bytes | None = None, *, packed: bytes | None = None, **changes: Any
) -> dict[str, bytes]:
    """The files of a forged run."""
    lines = [CASE] if cases is None else cases
    text = lines if isinstance(lines, bytes) else b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    content = head if isinstance(head, bytes) else json.dumps({**HEAD, **(head or {}), **changes}).encode()
    return {"run.json": content, "cases.jsonl.gz": gzip.compress(text) if packed is None else packed}
