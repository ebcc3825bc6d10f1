"""Which artifact is the base, and what is no base whatever it is called."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.fakes.github import Run
from tests.integration.github.place import Place

from scoregate.kernel.job.baseline.artifact import find_artifact_baseline
from scoregate.kernel.job.github.base import BaseCommit
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import Settings

pytestmark = pytest.mark.anyio


async def find_baseline(place: Place, commit: str | None, *, run: Run | None = None, **rights: str) -> Baseline:
    async with place.connection(run=run, **rights) as connection:
        return await find_artifact_baseline(Settings(), connection, BaseCommit("main", commit))


async def test_the_run_of_the_exact_commit(place: Place) -> None:
    for index, commit in enumerate(place.main):
        place.upload(commit, cases=index + 1)
    baseline = await find_baseline(place, place.main[1])
    assert baseline.run is not None
    assert (baseline.run.code.commit, baseline.run.code.branch, baseline.note) == (place.main[1], "main", "exact")
    assert len(list(baseline.run.cases)) == 2


async def test_the_run_of_the_nearest_ancestor(place: Place) -> None:
    place.upload(place.main[0])
    baseline = await find_baseline(place, place.main[2])
    assert baseline.run is not None
    assert (baseline.run.code.commit, baseline.note) == (place.main[0], "2 commits before the base")


async def test_the_newest_run_with_a_note(place: Place) -> None:
    place.upload(place.main[1])
    place.upload(place.main[2])
    baseline = await find_baseline(place, place.main[0])
    assert baseline.run is not None
    assert baseline.run.code.commit == place.main[2]
    assert "the newest of main, whose relation to the base" in baseline.note
    assert (await find_baseline(place, None)).note == "the newest of main"


async def test_an_unknown_ancestor_selects_the_newest(place: Place) -> None:
    place.upload(place.main[0])
    place.github.fail("GET", "*/commits", status=404, body={"message": "No commit found for SHA"})
    assert "unknown" in (await find_baseline(place, "f" * 40)).note


async def test_several_runs_of_one_commit_are_pooled(place: Place) -> None:
    for seconds in range(7):
        place.upload(place.main[2], finished=1_000.0 + seconds)
    baseline = await find_baseline(place, place.main[2])
    assert baseline.run is not None
    times = sorted([run.end.finished for run in (baseline.run, *baseline.pool)], reverse=True)
    assert (baseline.run.end.finished, len(times)) == (times[0], 5)


async def test_a_run_that_failed_its_gate_is_a_base(place: Place) -> None:
    run = place.repo.workflow_run(head_sha=place.main[2], conclusion="failure")
    run.upload("scoregate-evals", place.stored(place.main[2], 0.0))
    assert (await find_baseline(place, place.main[2])).note == "exact"


async def test_a_main_branch_of_a_fork_is_none(place: Place) -> None:
    fork = place.github.repository("mallory/bot", fork_of=place.repo)
    place.upload(place.main[2], head_repository=fork, event="pull_request")
    baseline = await find_baseline(place, place.main[2])
    assert (baseline.run, baseline.note) == (None, "main has no artifact scoregate-evals")


async def test_other_branches_and_earlier_attempts_are_no_base(place: Place) -> None:
    place.upload(place.main[2], head_branch="feature")
    own = place.repo.workflow_run(head_sha=place.main[2])
    own.upload("scoregate-evals", place.stored(place.main[2]))
    assert (await find_baseline(place, place.main[2], run=own)).run is None


async def test_a_run_of_another_commit_is_none(place: Place) -> None:
    """As on a pull request whose head is the base branch: what ran was a merge commit."""
    place.upload(place.main[2], place.stored("d" * 40))
    baseline = await find_baseline(place, place.main[2])
    assert baseline.run is None
    assert "it is a run of ddddddd" in baseline.note


async def test_an_interrupted_run_is_skipped_for_an_older(place: Place) -> None:
    place.upload(place.main[2], complete=False)
    place.upload(place.main[1])
    baseline = await find_baseline(place, place.main[2])
    assert baseline.run is not None
    assert baseline.run.code.commit == place.main[1]
    assert baseline.note.startswith("1 commit before the base; ")
    assert "was interrupted" in baseline.note


async def test_expired_ones_are_skipped(place: Place) -> None:
    place.upload(place.main[2]).expired = True
    place.upload(place.main[1])
    assert (await find_baseline(place, place.main[2])).note == "1 commit before the base"


async def test_a_newly_expired_artifact_is_skipped(place: Place) -> None:
    gone = place.upload(place.main[2])
    place.upload(place.main[1])
    place.github.before("GET", f"*/{gone.id}/zip", lambda _: setattr(gone, "expired", True))
    baseline = await find_baseline(place, place.main[2])
    assert baseline.run is not None
    assert baseline.run.code.commit == place.main[1]
    assert "410" in baseline.note


async def test_every_page_is_read(place: Place) -> None:
    old = datetime.now(UTC) - timedelta(days=9)
    exact = place.upload(place.main[0])
    exact.created_at = old
    for number in range(230):
        place.upload(place.main[2], {"run.json": str(number)}, head_branch=f"feature-{number}")
    assert (await find_baseline(place, place.main[0])).note == "exact"
    assert len(place.github.asked("GET", "*/actions/artifacts")) == 3


async def test_other_keys_are_not_mixed_up(place: Place) -> None:
    place.upload(place.main[2], name="scoregate-evals-nightly")
    place.upload(place.main[2], name="evals")
    assert (await find_baseline(place, place.main[2])).run is None


@pytest.mark.parametrize("private", [False, True])
async def test_without_the_right_to_read_them_the_permission_is_named(place: Place, private: bool) -> None:
    place.repo.private = private
    place.upload(place.main[2])
    if not private:
        place.github.fail("GET", "*/actions/artifacts", status=403, body={"message": "Resource not accessible"})
    baseline = await find_baseline(place, place.main[2], contents="read")
    assert baseline.run is None
    assert "actions: read" in baseline.note


async def test_an_outage_is_explained(place: Place) -> None:
    place.github.fail("GET", "*/actions/artifacts", status=502, times=9)
    baseline = await find_baseline(place, place.main[2])
    assert baseline.run is None
    assert "502" in baseline.note
