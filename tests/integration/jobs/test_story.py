"""From the first run without a base to the comment on a pull request that is worse."""

from __future__ import annotations

from tests.fakes.github import events
from tests.integration.jobs.world import World

WORSE = {"fn": "lambda case: case.input if '1' not in case.input else 'no'", "good": 20}


def test_a_first_run_says_that_there_is_no_base_yet(world: World) -> None:
    job = world.job(events.push(world.repo))
    assert job.exit_code == 0, job.output
    assert job.outputs["conclusion"] == "passed"
    assert job.outputs["run-path"] == "scoregate-out/run"
    assert "nothing to compare with yet" in job.summary


def test_a_pull_request_that_is_worse_gets_a_comment_and_fails(world: World) -> None:
    base = world.push()
    world.branch()
    world.commit_suite(**WORSE)
    pull = world.open_pull_request()
    job = world.job(events.pull_request(pull))
    assert job.exit_code == 1, job.output
    (comment,) = pull.comments
    assert job.outputs["comment-url"].endswith(str(comment.id))
    assert f"main@{base.run['commit'][:7]}" in comment.body
    assert "exact" in comment.body
    assert "11 newly failing" in comment.body
