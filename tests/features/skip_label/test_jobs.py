"""The label `scoregate: skip`: no suite runs, and the job passes only if the base or the workflow allows it."""

from __future__ import annotations

from datetime import timedelta

from tests.fakes.github import Pull, events
from tests.integration.jobs.world import Job, World

LABEL = "scoregate: skip"
ALLOWED = "allow_skip = true\n"


def open_change(world: World, *, settings: str = "", own_settings: str = "", fork: bool = False) -> Pull:
    """A pull request whose pushes are ten minutes old."""
    world.project.write("scoregate.toml", settings)
    world.commit()
    world.repo.roles |= {"ana": "maintain", "tim": "triage"}
    world.branch()
    world.project.write("scoregate.toml", own_settings or settings)
    world.commit_suite(good=20, bad=1)
    pull = world.open_pull_request(fork=world.fork() if fork else None)
    for push in world.repo.activities:
        push.timestamp -= timedelta(minutes=10)
    return pull


def judge(world: World, pull: Pull, **options: str) -> Job:
    return world.job(events.pull_request(pull), **options)


def test_a_skipped_run_is_unmeasurable_unless_it_is_allowed(world: World) -> None:
    pull = open_change(world, own_settings=ALLOWED)
    pull.label(LABEL, "ana")
    job = judge(world, pull)
    assert job.exit_code == 3, job.output
    assert job.outputs["conclusion"] == "unmeasurable"
    assert "ana set the label" in job.output
    assert "`allow_skip` is not set on the base" in job.summary
    assert "No suite ran" in pull.comments[0].body
    assert "is-equals" not in job.output
    allowed = judge(world, pull, **{"INPUT_ALLOW-SKIP": "true"})
    assert (allowed.exit_code, allowed.outputs["conclusion"]) == (0, "skipped"), allowed.output
    assert "skipped" in allowed.summary
    forbidden = judge(world, pull, **{"INPUT_ALLOW-SKIP": "false"})
    assert forbidden.exit_code == 3, forbidden.output
    pull.unlabel(LABEL, "ana")
    assert judge(world, pull).exit_code == 1


def test_the_base_allows_it_for_the_labelled_commit(world: World) -> None:
    pull = open_change(world, settings=ALLOWED)
    pull.label("Scoregate: Skip", "ana", at=world.repo.activities[-1].timestamp + timedelta(minutes=1))
    job = judge(world, pull)
    assert (job.exit_code, job.outputs["conclusion"]) == (0, "skipped"), job.output
    world.project.git("checkout", "-q", "change")
    world.commit_suite(good=20, bad=2)
    world.check_out_merge(pull)
    moved = judge(world, pull)
    assert moved.exit_code == 3, moved.output
    assert "so set it again" in moved.output


def test_a_label_that_does_not_count_skips_nothing(world: World) -> None:
    pull = open_change(world, settings=ALLOWED)
    for login, why in (("tim", "without write access"), ("helper[bot]", "is not a user")):
        pull.label(LABEL, login)
        job = judge(world, pull)
        assert job.exit_code == 1, job.output
        assert [why in warning for warning in job.warnings] == [True]
        pull.unlabel(LABEL, login)
    pull.label(LABEL, "ana")
    event = events.pull_request(pull)
    pull.unlabel(LABEL, "ana")
    assert world.job(event).exit_code == 1, "the label was removed since the event"
    world.github.fail("GET", "*/labels", status=403, body={"message": "Resource not accessible by integration"})
    pull.label(LABEL, "ana")
    refusal = judge(world, pull)
    assert (refusal.exit_code, len(refusal.warnings)) == (1, 1), refusal.output


def test_it_passes_no_job_of_a_fork(world: World) -> None:
    pull = open_change(world, settings=ALLOWED, fork=True)
    pull.label(LABEL, "ana")
    job = judge(world, pull, **{"INPUT_ALLOW-SKIP": "true"})
    assert job.exit_code == 3, job.output
    assert "In a pull request of a fork" in job.output
    assert pull.comments == []


def test_merge_passes_if_every_shard_was_skipped(world: World) -> None:
    pull = open_change(world, settings=ALLOWED)

    def merge(**options: str) -> Job:
        return world.job(events.pull_request(pull), "merge", "shards/*", **options)

    missing = merge()
    assert missing.exit_code == 2, missing.output
    pull.label(LABEL, "ana", at=world.repo.activities[-1].timestamp + timedelta(minutes=1))
    for number in (1, 2):
        shard = world.job(events.pull_request(pull), "run", "--shard", f"{number}/2", "--out", f"shards/{number}")
        assert (shard.exit_code, shard.outputs["conclusion"]) == (0, "skipped"), shard.output
    merged = merge()
    assert (merged.exit_code, merged.outputs["conclusion"]) == (0, "skipped"), merged.output
    assert merge(**{"INPUT_ALLOW-SKIP": "false"}).exit_code == 3
    # A run that is there is judged, and one that can't be read is no skipped one.
    world.project.write("shards/1/run/run.json", "{")
    assert merge().exit_code == 2
    (world.project.root / "shards/1/run/run.json").unlink()
    pull.unlabel(LABEL, "ana")
    assert world.job(events.pull_request(pull), "run", "--out", "shards/1").exit_code == 1
    pull.label(LABEL, "ana")
    judged = merge()
    assert judged.exit_code == 1, judged.output
