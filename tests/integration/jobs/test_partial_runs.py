"""A run of a part of the cases is never a baseline of a pull request."""

from __future__ import annotations

import shutil

from tests.fakes.github import events
from tests.integration.jobs.test_merge import LEGS, legs
from tests.integration.jobs.world import World

PART = ("-k", "'good 1'")


def base_of_pull_request(world: World, *arguments: str) -> str | None:
    world.branch()
    world.commit_suite(good=20, max_test_case_concurrency="2")
    job = world.job(events.pull_request(world.open_pull_request()), "run", *arguments)
    assert job.exit_code == 0, job.output
    base = job.result["base"]
    return base and base["id"]


def test_an_older_complete_run_replaces_a_partial_one(world: World) -> None:
    complete = world.push()
    world.commit_suite(good=21)
    world.commit()
    part = world.job(events.push(world.repo), "run", *PART)
    assert "good 1" in part.run["selection"]
    part.upload()
    assert base_of_pull_request(world) == complete.run["id"]


def test_a_data_branch_has_no_partial_run(world: World) -> None:
    world.permissions = {**world.permissions, "contents": "write"}
    complete = world.job(events.push(world.repo), "run", "--baseline", "branch")
    part = world.job(events.push(world.repo), "run", "--baseline", "branch", *PART)
    assert "a run of a part of the cases is not stored as a baseline" in part.output
    assert base_of_pull_request(world, "--baseline", "branch") == complete.run["id"]


def test_a_partial_shard_is_a_partial_run(world: World) -> None:
    folder = legs(world, events.push(world.repo), LEGS[:1])
    part = world.job(events.push(world.repo), "run", "--comment", "off", *PART)
    shutil.copytree(part.out / "run", folder / LEGS[1])
    merged = world.job(events.push(world.repo), "merge", *map(str, folder.iterdir()))
    assert merged.run["selection"] == part.run["selection"]
    merged.upload()
    assert base_of_pull_request(world) is None


def test_base_gates_apply_to_partial_runs(world: World) -> None:
    world.project.write("scoregate.toml", 'min_pass_rate = 0.9\npolicy_from = "base"\n')
    world.commit_suite(good=10, bad=1)
    world.commit()
    world.push()
    part = world.job(events.push(world.repo), "run", *PART)
    part.upload()
    world.branch()
    world.project.write("scoregate.toml", "min_pass_rate = 0\n")
    world.commit_suite(good=5, bad=5)
    job = world.job(events.pull_request(world.open_pull_request()), "run")
    assert job.exit_code == 1, job.output
    assert "0.9" in job.output or "90.0%" in job.output
