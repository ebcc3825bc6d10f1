"""A job on GitHub, for worlds whose base and earlier runs are on the data branch."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.fakes.github import GitHub, Repository, events
from tests.fakes.github.objects import Commit
from tests.golden.archive import World

_FIRST = datetime(2025, 10, 1, tzinfo=UTC)


@contextmanager
def open_job(world: World, folder: Path) -> Iterator[Mapping[str, str]]:
    """The environment of a job on a push to main, until the block ends; empty for a world without one.

    Args:
        world: the world.
        folder: gets the files that a runner writes and reads.
    """
    if not world.commits:
        yield {}
        return
    with GitHub.start() as github:
        repository = github.repository("acme/bot")
        _add_commits(repository, world.commits)
        repository.commit("scoregate-data", files=dict(_zip_runs(world.stored)), date=_FIRST)
        event = events.push(repository)
        folder.mkdir()
        yield {
            **event.environment(folder, repository.workflow_run(head_sha=event.sha, created_at=_FIRST)),
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_ACTIONS": "true",
            "CI": "true",
            "GITHUB_JOB": "evals",
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "INPUT_GITHUB-TOKEN": github.token(contents="read", actions="read"),
        }


def _add_commits(repository: Repository, commits: tuple[str, ...]) -> None:
    """Put commits with these names on main."""
    tree, parents = repository.objects.add_tree({}), ()
    for number, sha in enumerate(commits):
        date = _FIRST + timedelta(hours=number)
        repository.objects.keep_commit(Commit(sha, tree, parents, f"Change {number}", date, 0))
        parents = (sha,)
    repository.refs["refs/heads/main"] = commits[-1]


def _zip_runs(files: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Each stored run, `KEY/TIME-COMMIT/…`, as the file that the data branch has of it."""
    for run in sorted({"/".join(path.split("/")[:2]) for path in files}):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for path, content in files.items():
                if path.startswith(f"{run}/"):
                    archive.writestr(zipfile.ZipInfo(path.removeprefix(f"{run}/")), content)
        yield f"{run}.zip", packed.getvalue()
