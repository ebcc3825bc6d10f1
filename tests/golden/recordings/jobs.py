"""Runs of jobs, with a fake of GitHub: forks, labels, declines, alerts. Their folders are judged without it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.fakes.github import GitHub, events
from tests.golden.recordings.bench import FORMATS, Bench, Command, recording
from tests.integration.jobs import test_alerts as alerts
from tests.integration.jobs import test_declines as declines
from tests.integration.jobs import test_exemptions as exemptions
from tests.integration.jobs.world import Job, World

WITH_BASE: tuple[Command, ...] = (
    ("gate", "--baseline", "base", "--json"),
    *(("report", "--baseline", "base", "--format", form) for form in FORMATS),
    ("merge", "scoregate-out", "--baseline", "base", "--out", "merged"),
    ("history", "import", "base", "scoregate-out"),
)


@contextmanager
def open_world(bench: Bench) -> Iterator[World]:
    """A repository on the fake, in a folder of its own that isn't stored."""
    with GitHub.start() as github:
        yield World.new(github, bench.root.parent / "jobs")


def keep(bench: Bench, world: World, job: Job, base: Job | None = None) -> None:
    """Keep the settings and suites of a world and what its jobs left."""
    print(f"    job: {job.exit_code}")
    for name in ("scoregate.toml", ".scoregate", "evals", "app", "prompts"):
        path = world.project.root / name
        if path.exists():
            copy = shutil.copytree if path.is_dir() else shutil.copy
            copy(path, bench.root / name)
    shutil.copytree(job.out, bench.root / "scoregate-out")
    if base is not None:
        shutil.copytree(base.out, bench.root / "base")


@recording
def job_pull_request(bench: Bench) -> Sequence[Command]:
    """The job of a pull request with an accepted regression of its base."""
    with open_world(bench) as world:
        world.project.write("scoregate.toml", exemptions.SETTINGS)
        exemptions.write(world, exemptions.ENTRY, exemptions.FLAKY)
        world.commit_suite(good=20)
        base = world.push()
        keep(bench, world, exemptions.judge(world, exemptions.change(world)), base)
    return WITH_BASE


@recording
def job_decline(bench: Bench) -> Sequence[Command]:
    """Small drops on the base branch that add up. The earlier run isn't stored, so that it can't be judged again."""
    with open_world(bench) as world:
        world.project.write("scoregate.toml", f'{declines.SETTINGS}decline_window = "3 runs"\n')
        jobs = [declines.push(world, failing) for failing in (0, 4, 8, 12)]
        keep(bench, world, jobs[-1], jobs[-2])
    return WITH_BASE


@recording
def job_decline_short(bench: Bench) -> Sequence[Command]:
    """A branch with too few earlier runs for its `decline_window`."""
    with open_world(bench) as world:
        world.project.write("scoregate.toml", f'{declines.SETTINGS}decline_window = "9 runs"\n')
        jobs = [declines.push(world, failing) for failing in (0, 4)]
        keep(bench, world, jobs[-1], jobs[-2])
    return WITH_BASE


@recording
def job_alert(bench: Bench) -> Sequence[Command]:
    """A scheduled job on the base branch measured twice what got worse, and opened an issue."""
    with open_world(bench) as world:
        world.permissions = {**world.permissions, "issues": "write"}
        world.project.write(".gitignore", "scoregate-out\nprovider.txt\n")
        world.project.write("scoregate.toml", 'min_pass_rate = 0\nfail_on_regression = true\nalert = ["issue"]\n')
        world.project.write("provider.txt", "0")
        world.commit_suite(good=alerts.CASES, fn=alerts.FN)
        base = world.push()
        world.project.write("provider.txt", "12")
        keep(bench, world, world.job(events.schedule(world.repo)), base)
    return WITH_BASE


@recording
def job_skipped(bench: Bench) -> Sequence[Command]:
    """The job of a fork skipped a suite, since forks have no keys."""
    with open_world(bench) as world:
        world.project.write("scoregate.toml", '[suites.demo]\nneeds = ["MODEL_API_KEY"]\n')
        source = (world.project.root / "evals/demo.py").read_text()
        world.project.write("evals/other.py", source.replace("'demo'", "'x'"))
        world.commit()
        base = world.push(MODEL_API_KEY="key-of-a-model")
        world.branch()
        world.commit_suite(good=20, fn="lambda case: case.input")
        pull = world.open_pull_request(fork=world.fork())
        keep(bench, world, world.job(events.pull_request(pull)), base)
    return WITH_BASE


@recording
def job_base_policy(bench: Bench) -> Sequence[Command]:
    """The gates of the base judged a change that loosened its own."""
    with open_world(bench) as world:
        world.project.write("scoregate.toml", 'policy_from = "base"\nmin_pass_rate = 0.9\nmax_drop = 0.1\n')
        world.commit_suite(good=20)
        base = world.push()
        world.branch()
        world.project.write("scoregate.toml", 'policy_from = "base"\nmin_pass_rate = 0\n')
        world.commit_suite(good=20, fn=exemptions.BROKEN)
        keep(bench, world, world.job(events.pull_request(world.open_pull_request())), base)
    return WITH_BASE
