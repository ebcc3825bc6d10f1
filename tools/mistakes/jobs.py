"""Mistakes in workflows, as jobs against a fake of GitHub."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.fakes.github import GitHub, events
from tests.integration.jobs.world import Job, World
from tools.mistakes.mistake import Mistake


def _job(run: Callable[[World], Job]) -> Callable[[Path], tuple[int, str]]:
    """Run a job in a new repository. Its message is in its annotations."""

    def make(folder: Path) -> tuple[int, str]:
        with GitHub.start() as github:
            job = run(World.new(github, folder))
        found = [each.message for each in job.commands if each.name in ("warning", "error")]
        return job.exit_code, "\n".join(found) or job.output

    return make


def _pull_request(world: World, *arguments: str, worse: bool = False, **permissions: str) -> Job:
    world.push()
    world.branch()
    world.commit_suite(good=20, fn="lambda case: 'no'" if worse else "lambda case: case.input")
    pull = world.open_pull_request()
    world.permissions = permissions
    return world.job(events.pull_request(pull), "run", *arguments)


def _shallow(world: World) -> Job:
    world.branch()
    world.commit_suite(good=20)
    pull = world.open_pull_request()
    world.check_out_shallow("merged")
    world.permissions = {"pull_requests": "write"}
    return world.job(events.pull_request(pull), "run", "--baseline", "rerun", "--fail-on-regression")


MISTAKES = (
    Mistake(
        "The job lacks `pull-requests: write`.",
        run=_job(lambda world: _pull_request(world, contents="read", actions="read")),
        code=0,
    ),
    Mistake(
        "The job lacks `actions: read`.",
        run=_job(lambda world: _pull_request(world, "--fail-on-regression", contents="read", pull_requests="write")),
    ),
    Mistake("The checkout is shallow, without the right to read the contents.", run=_job(_shallow)),
)
