"""The base of a job: kept on a branch, run again, from a clone without history, or not there at all."""

from __future__ import annotations

import pytest
from tests.fakes.github import events
from tests.integration.host.conftest import Project
from tests.integration.jobs.test_lifecycle import WORSE
from tests.integration.jobs.world import World


def test_a_shallow_clone_finds_the_base_by_its_name(world: World) -> None:
    base = world.push()
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request()
    world.check_out_shallow("merged")
    job = world.job(events.pull_request(pull))
    assert job.exit_code == 1, job.output
    assert f"main@{base.run['commit'][:7]}" in job.comment
    assert "exact" in job.comment


def test_the_age_of_a_base_is_shown(world: World) -> None:
    world.push()
    for name in "ab":
        world.project.write(name, "")
        world.commit()
    world.branch()
    world.commit_suite(good=20)
    job = world.job(events.pull_request(world.open_pull_request()))
    assert job.exit_code == 0, job.output
    assert ", 2 commits before the base" in job.comment


def test_a_missing_base_is_explained_and_no_failure(world: World) -> None:
    world.push()
    world.branch()
    world.commit_suite(good=20)
    pull = world.open_pull_request()
    world.github.fail("GET", "*/actions/artifacts", status=403, body={"message": "Resource not accessible"})
    job = world.job(events.pull_request(pull))
    assert job.exit_code == 0, job.output
    assert "actions: read" in job.comment
    assert "Baseline: none" in job.comment


def test_a_data_branch_is_written_on_main_and_read_on_pull_requests(world: World) -> None:
    world.permissions = {**world.permissions, "contents": "write"}
    base = world.job(events.push(world.repo), "run", "--baseline", "branch")
    assert base.exit_code == 0, base.output
    assert base.warnings == []
    tip = world.repo.branch("scoregate-data")
    assert world.project.git("status", "--porcelain") == ""
    assert world.project.git("branch", "--list", "scoregate-data") == ""
    world.branch()
    world.commit_suite(**WORSE)
    job = world.job(events.pull_request(world.open_pull_request()), "run", "--baseline", "branch")
    assert job.exit_code == 1, job.output
    assert "exact" in job.comment
    assert world.repo.branch("scoregate-data") == tip


def test_a_read_only_data_branch_is_a_warning(world: World) -> None:
    job = world.job(events.push(world.repo), "run", "--baseline", "branch")
    assert job.exit_code == 0, job.output
    assert any("contents: write" in warning for warning in job.warnings)


def test_a_rerun_takes_the_first_parent_of_the_merge_commit(world: World) -> None:
    world.branch()
    world.commit_suite(**WORSE)
    world.project.git("checkout", "-q", "main")
    base = world.commit_suite(good=20)
    job = world.job(events.pull_request(world.open_pull_request()), "run", "--baseline", "rerun")
    assert job.exit_code == 1, job.output
    assert "rerun of main@" in job.comment
    assert job.result["base"]["commit"] == base
    assert "11 newly failing" in job.comment


def test_a_rerun_without_history_is_explained_but_an_unknown_commit_fails(world: World) -> None:
    world.branch()
    world.commit_suite(good=20)
    pull = world.open_pull_request()
    world.check_out_shallow("merged")
    job = world.job(events.pull_request(pull), "run", "--baseline", "rerun")
    assert job.exit_code == 0, job.output
    assert "fetch-depth: 0" in job.comment
    outcome = world.job(events.pull_request(pull), "run", "--baseline", "rerun:nowhere")
    assert outcome.exit_code == 2
    (error,) = [command for command in outcome.commands if command.name == "error"]
    assert "rerun:nowhere is not a commit" in error.message


@pytest.mark.parametrize("start", [events.schedule, events.workflow_dispatch])
def test_scheduled_and_manual_runs_use_newest_main(world: World, start: events.Event) -> None:
    world.push()
    job = world.job(start(world.repo))  # type: ignore[operator]
    assert job.exit_code == 0, job.output
    assert "the newest of main" in job.summary


def test_a_new_branch_compares_with_the_newest_of_main(world: World) -> None:
    world.push()
    world.branch()
    world.commit_suite(**WORSE)
    job = world.job(events.push(world.repo, "change", before=events.NOWHERE))
    assert job.exit_code == 1, job.output
    assert "the newest of main" in job.summary


def test_main_of_a_fork_is_no_base(world: World) -> None:
    fork = world.fork()
    poisoned = world.job(
        events.push(world.repo),
        run=world.repo.workflow_run(event="pull_request", head_branch="main", head_repository=fork),
    )
    poisoned.upload()
    world.branch()
    world.commit_suite(good=20)
    job = world.job(events.pull_request(world.open_pull_request()))
    assert "main has no artifact scoregate-evals-evals" in job.comment


def test_local_runs_send_no_request(project: Project, world: World) -> None:
    project.write("evals/demo.py", (world.project.root / "evals/demo.py").read_text())
    outcome = project.scoregate("run")
    assert outcome.exit_code == 0, outcome.output
    assert "::" not in outcome.output
    assert world.github.requests == []
