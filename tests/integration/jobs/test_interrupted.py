"""A job that is cancelled, as a runner cancels: SIGINT, 7.5 seconds later SIGTERM, then SIGKILL."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from functools import partial

import pytest
from tests.fakes.github import events
from tests.integration.jobs.world import Job, World
from tests.waiting import wait_until

SLOW = "import time, pathlib\n\n\ndef slow(case):\n    pathlib.Path('began').touch()\n    time.sleep(600)\n"
STUBBORN = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SLOW


def cancel_job(world: World, when: Callable[[], object], *signals: signal.Signals, pause: float = 0.0) -> Job:
    """The job on the pull request that is checked out, signalled once `when` holds."""
    (pull,) = world.repo.pulls.values()
    event = events.pull_request(pull)
    workflow_run = world.workflow_run(event)
    process = world.start(event, workflow_run, "run", "--check-run")
    wait_until(when)
    started = time.monotonic()
    for number in signals:
        process.send_signal(number)
        time.sleep(pause)
    job = world.finish(process, workflow_run)
    assert time.monotonic() - started < 60, "a runner waits 7.5 s, which takes 1 to 4 on a machine at rest"
    return job


def pull_request(world: World, body: str = SLOW) -> None:
    world.branch()
    world.commit_suite(body, fn="slow", good=3)
    world.open_pull_request()


@pytest.mark.parametrize("body", [SLOW, STUBBORN], ids=["obedient", "stubborn"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_running_suite(world: World, number: signal.Signals, body: str) -> None:
    pull_request(world, body)
    job = cancel_job(world, (world.project.root / "began").exists, number)
    assert job.exit_code == 130, job.output
    assert job.run["complete"] is False
    assert [suite["id"] for suite in job.run["suites"]] == ["demo"]
    assert "could not be measured" in job.summary
    (check,) = world.repo.check_runs.values()
    assert (check.status, check.conclusion) == ("completed", "cancelled")
    (pull,) = world.repo.pulls.values()
    assert len(pull.comments) == 1
    assert job.outputs["conclusion"] == "unmeasurable"


def test_the_search_for_the_base(world: World) -> None:
    pull_request(world)
    world.github.rate_limit("GET", "*/actions/artifacts", retry_after=50, times=math.inf)
    is_asked = partial(world.github.asked, "GET", "*/actions/artifacts")
    job = cancel_job(world, is_asked, signal.SIGINT)
    assert job.exit_code == 130, job.output
    assert "the run was interrupted" in job.summary
    assert not (world.project.root / "began").exists()
    (check,) = world.repo.check_runs.values()
    assert check.conclusion == "cancelled"


def test_github_faults_keep_the_record_and_summary(world: World) -> None:
    pull_request(world)
    for method in ("POST", "PATCH", "GET"):
        world.github.fail(method, "*/issues/*", status=503, times=math.inf)
    job = cancel_job(world, (world.project.root / "began").exists, signal.SIGINT)
    assert job.exit_code == 130, job.output
    assert job.outputs["comment-pending"] == "true"
    (check,) = world.repo.check_runs.values()
    assert check.conclusion == "cancelled"


def test_a_second_signal_still_completes_the_check(world: World) -> None:
    pull_request(world, STUBBORN)
    job = cancel_job(world, (world.project.root / "began").exists, signal.SIGINT, signal.SIGTERM, pause=0.5)
    assert job.exit_code == 130, job.output
    (check,) = world.repo.check_runs.values()
    assert (check.status, check.conclusion) == ("completed", "cancelled")


def test_an_exception_between_start_and_end_completes_the_check(world: World) -> None:
    pull_request(world, "slow = str\n")
    (pull,) = world.repo.pulls.values()
    job = world.job(events.pull_request(pull), "run", "--check-run", "--baseline", "rerun:nowhere")
    assert job.exit_code in (2, 3), job.output
    (check,) = world.repo.check_runs.values()
    assert (check.status, check.conclusion) == ("completed", "cancelled")


def test_a_run_of_the_base(world: World) -> None:
    """Cases that the base has not finished would look new and not worse: that must not pass."""
    flag = world.folder / "in-base"
    world.commit_suite(f"import pathlib, time\npathlib.Path({str(flag)!r}).touch()\ntime.sleep(600)\n", good=3)
    world.branch()
    world.commit_suite(good=3, fn="lambda case: case.input")
    world.open_pull_request()
    job = cancel_in_base(world)
    assert job.exit_code == 130, job.output
    assert job.run["complete"] is False
    assert job.result["conclusion"] == "unmeasurable"
    (check,) = world.repo.check_runs.values()
    assert check.conclusion == "cancelled"


def cancel_in_base(world: World) -> Job:
    (pull,) = world.repo.pulls.values()
    workflow_run = world.workflow_run(event := events.pull_request(pull))
    process = world.start(event, workflow_run, "run", "--check-run", "--baseline", "rerun", "--fail-on-regression")
    wait_until((world.folder / "in-base").exists)
    process.send_signal(signal.SIGINT)
    return world.finish(process, workflow_run)
