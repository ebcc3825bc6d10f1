"""A job that is run again: what an attempt before it has measured is reused, if that one did not finish."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from tests.fakes.github import events
from tests.features.resume.test_resume import BODY
from tests.integration.host.test_kills import flushed_cases, kill
from tests.integration.jobs.world import Job, World
from tests.waiting import wait_until


@pytest.fixture
def counts(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    world.commit_suite(BODY, fn="fn", good=8, max_test_case_concurrency="1")
    return tmp_path_factory.mktemp("counts")


def attempts(world: World, counts: Path, *, killed: bool) -> Job:
    """The second attempt, after one that was stopped once five cases had finished, and stored its folder."""
    event = events.push(world.repo)
    run = world.workflow_run(event)
    process = world.start(event, run, COUNTS=str(counts))
    wait_until((counts / "began").exists)
    wait_until(lambda: len(flushed_cases(world.project)) == 5)
    if killed:
        kill(process)
    else:
        process.send_signal(signal.SIGTERM)
    job = world.finish(process, run)
    job.upload()
    (counts / "free").write_text("x")
    (counts / "calls").write_text("")
    fresh_workspace(world)
    return world.job(event, run=run, COUNTS=str(counts), GITHUB_RUN_ATTEMPT="2")


def fresh_workspace(world: World) -> None:
    world.project.git("clean", "-qfdx")


@pytest.mark.parametrize("killed", [False, True], ids=["cancelled", "killed"])
def test_a_second_attempt_measures_only_what_the_first_lacks(world: World, counts: Path, *, killed: bool) -> None:
    job = attempts(world, counts, killed=killed)
    assert job.exit_code == 0, job.output
    assert (counts / "calls").read_text().splitlines() == ["good 5", "good 6", "good 7"]
    assert "5 of 8 results were reused from attempt 1 of this job" in job.output.replace("\n      ", " ")
    assert "reused from attempt 1" in job.comment
    assert job.run["reused_from"]["attempt"] == 1
    assert job.run["attempt"] == 2


def test_a_finished_attempt_is_measured_again(world: World, counts: Path) -> None:
    (counts / "free").write_text("x")
    event = events.push(world.repo)
    run = world.workflow_run(event)
    first = world.job(event, run=run, COUNTS=str(counts))
    first.upload()
    (counts / "calls").write_text("")
    fresh_workspace(world)
    job = world.job(event, run=run, COUNTS=str(counts), GITHUB_RUN_ATTEMPT="2")
    assert len((counts / "calls").read_text().splitlines()) == 8
    assert "attempt 1 of this job had finished (8 of 8 cases passed)" in " ".join(job.output.split())


def test_a_missing_artifact_changes_nothing(world: World, counts: Path) -> None:
    (counts / "free").write_text("x")
    event = events.push(world.repo)
    world.github.fail("GET", "*/actions/runs/*/artifacts", status=403, body={"message": "Resource not accessible"})
    job = world.job(event, COUNTS=str(counts), GITHUB_RUN_ATTEMPT="2")
    assert job.exit_code == 0, job.output
    assert "no results of an earlier run are reused" in " ".join(job.output.split())


def test_a_first_attempt_needs_none(world: World, counts: Path) -> None:
    (counts / "free").write_text("x")
    assert world.job(events.push(world.repo), COUNTS=str(counts)).exit_code == 0
    assert not world.github.asked("GET", "*/actions/runs/*/artifacts")
