"""Runs stored on a branch by the API alone, despite concurrent writers."""

from __future__ import annotations

import io
import math
import zipfile
from dataclasses import replace
from typing import Any

import pytest
from tests.integration.github.place import Place
from tests.runs import change_run
from tests.unit.report.runs import ExampleSuite, Score, Trial, make_run, view_of

from scoregate.errors import GitHubRefused
from scoregate.kernel.job.baseline.data_branch import find_branch_baseline
from scoregate.kernel.job.github import branch_files
from scoregate.kernel.job.github.base import BaseCommit
from scoregate.kernel.job.github.branch_files import BRANCH, add_file
from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.publish import data_branch as publisher
from scoregate.kernel.job.publish.data_branch import publish_to_branch
from scoregate.kernel.job.publish.delivery import Delivery, PublishTarget
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import Settings

pytestmark = pytest.mark.anyio


async def publish_run(
    place: Place, commit: str, *, key: str = "evals", finished: float = 1.7e9, **fields: Any
) -> Delivery:
    run = make_run(ExampleSuite("demo", [Trial("c", [Score("is-equals")])]), finished=finished, **fields)
    run = change_run(run, commit=commit)
    async with place.connection() as connection:
        outlet = PublishTarget(place.written(run).parent, {}, connection=replace(connection, key=key), stored=True)
        return await publish_to_branch(view_of(run), outlet)


async def find_baseline(place: Place, commit: str, key: str = "evals") -> Baseline:
    async with place.connection() as connection:
        assert connection.api is not None
        return await find_branch_baseline(
            replace(connection, key=key), connection.api, BaseCommit("main", commit), Settings().base_runs
        )


def paths(place: Place) -> list[str]:
    return sorted(place.repo.files(BRANCH))


async def test_the_first_run_creates_the_branch(place: Place) -> None:
    assert (await find_baseline(place, place.main[2])).note == f"no branch {BRANCH}"
    for index, commit in enumerate(place.main[:2]):
        assert await publish_run(place, commit, finished=1.7e9 + index) == Delivery()
    assert len(paths(place)) == 2
    assert (await find_baseline(place, place.main[0])).note == "exact"
    baseline = await find_baseline(place, place.main[2])
    assert baseline.run is not None
    assert (baseline.run.code.commit, baseline.note) == (place.main[1], "1 commit before the base")
    assert len(list(baseline.run.cases)) == 1
    tip = place.repo.objects.commits[place.repo.branch(BRANCH)]
    assert len(tip.parents) == 1
    assert "README.md" not in place.repo.files(BRANCH)


async def test_keys_are_separate(place: Place) -> None:
    await publish_run(place, place.main[2])
    await publish_run(place, place.main[2], key="nightly")
    assert len(paths(place)) == 2
    assert (await find_baseline(place, place.main[2], "nightly")).note == "exact"
    assert (await find_baseline(place, place.main[2], "weekly")).note == f"the branch {BRANCH} has no run of weekly"


async def test_runs_of_one_commit_are_pooled(place: Place) -> None:
    for index in range(3):
        await publish_run(place, place.main[2], finished=1.7e9 + index)
    baseline = await find_baseline(place, place.main[2])
    assert len(baseline.pool) == 2


async def test_concurrent_commits_are_kept(place: Place) -> None:
    await publish_run(place, place.main[0])

    def other(_: object) -> None:
        place.repo.commit(BRANCH, files={"other/20200101000000-" + "a" * 40 + ".zip": b"theirs"})

    place.github.before("PATCH", "*/git/refs/*", other, times=2)
    assert await publish_run(place, place.main[1], finished=1.8e9) == Delivery()
    assert len(paths(place)) == 3
    assert len(place.github.asked("PATCH", "*/git/refs/*")) == 3
    assert all(exchange.json["force"] is False for exchange in place.github.asked("PATCH", "*/git/refs/*"))


async def test_a_branch_created_meanwhile_is_kept(place: Place) -> None:
    place.github.before("POST", "*/git/refs", lambda _: place.repo.commit(BRANCH, files={"theirs": b"x"}))
    await publish_run(place, place.main[0])
    assert len(paths(place)) == 2
    assert "theirs" in paths(place)


async def test_an_endless_race_is_an_error(place: Place) -> None:
    await publish_run(place, place.main[0])
    hook = lambda _: place.repo.commit(BRANCH, files={"theirs": b"x"})  # noqa: E731
    place.github.before("PATCH", "*/git/refs/*", hook, times=math.inf)
    with pytest.raises(GitHubRefused, match="422"):
        await publish_run(place, place.main[1])
    assert sum(place.slept) < 30


async def test_lost_answers_leave_one_file(place: Place) -> None:
    for path in ("*/git/blobs", "*/git/trees", "*/git/commits"):
        place.github.fail("POST", path, status=502, after=True)
    await publish_run(place, place.main[0])
    place.github.drop("PATCH", "*/git/refs/*", after=True)
    await publish_run(place, place.main[1], finished=1.8e9)
    assert len(paths(place)) == 2


async def test_old_runs_are_deleted(place: Place) -> None:
    async with place.api() as api:
        for number in range(6):
            await add(api, f"evals/{20200101000000 + number}-{number:040}.zip")
            await add(api, f"other/{20200101000000 + number}-{number:040}.zip", keep=9)
    assert [path for path in paths(place) if path.startswith("evals/")] == [
        f"evals/{20200101000000 + number}-{number:040}.zip" for number in (3, 4, 5)
    ]
    assert len(paths(place)) == 9
    assert branch_files.KEPT == 100


async def add(api: Api, path: str, keep: int = 3) -> None:
    await add_file(api, BRANCH, path, content=b"x", message="Scores", keep=keep)


async def test_a_run_that_is_too_large_stays_an_artifact(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "MOST_BYTES", 100)
    delivery = await publish_run(place, place.main[0])
    assert "store it as an artifact" in delivery.warnings[0]
    assert f"refs/heads/{BRANCH}" not in place.repo.refs


async def test_an_interrupted_run_is_not_kept(place: Place) -> None:
    delivery = await publish_run(place, place.main[0], complete=False)
    assert "interrupted" in delivery.warnings[0]
    assert f"refs/heads/{BRANCH}" not in place.repo.refs


async def test_an_invalid_blob_is_explained(place: Place) -> None:
    place.repo.commit(BRANCH, parents=[], files={f"evals/20200101000000-{place.main[2]}.zip": b"no zip"})
    baseline = await find_baseline(place, place.main[2])
    assert baseline.run is None
    assert "could not be read" in baseline.note


async def test_an_invalid_blob_is_skipped(place: Place) -> None:
    await publish_run(place, place.main[1])
    place.repo.commit(BRANCH, files={f"evals/20990101000000-{place.main[2]}.zip": b"no zip"})
    nearest = await find_baseline(place, place.main[2])
    assert nearest.run is not None
    assert nearest.run.code.commit == place.main[1]
    assert f"1 commit before the base; a run of {place.main[2][:7]} on {BRANCH} could not be read" in nearest.note
    place.repo.commit(BRANCH, files={f"evals/20990101000001-{place.main[1]}.zip": b"no zip"})
    pooled = await find_baseline(place, place.main[1])
    assert pooled.run is not None
    assert (pooled.run.code.commit, pooled.pool) == (place.main[1], ())
    assert pooled.note.startswith("exact; a run of")


async def test_other_files_are_skipped(place: Place) -> None:
    await publish_run(place, place.main[2])
    place.repo.commit(BRANCH, files={"evals/README.md": b"hello", "evals/99999999999999-main.zip": b"x"})
    assert (await find_baseline(place, place.main[2])).note == "exact"


async def test_an_unreadable_branch_is_explained(place: Place) -> None:
    place.github.fail("GET", "*/git/ref/*", status=403, body={"message": "Resource not accessible by integration"})
    baseline = await find_baseline(place, place.main[2])
    assert baseline.run is None
    assert "contents: read" in baseline.note


async def test_only_the_files_of_the_run_are_kept(place: Place) -> None:
    place.written(make_run(ExampleSuite("demo", [Trial("c", [Score("is-equals")])])))
    secret = place.folder / "secret"
    secret.write_text("the runner's environment")
    folder = next(place.folder.rglob("run.json")).parent
    (folder / "leak").symlink_to(secret)
    (folder / "more").write_text("more")
    with zipfile.ZipFile(io.BytesIO(publisher.zip_run(folder))) as archive:
        assert sorted(archive.namelist()) == ["cases.jsonl.gz", "run.json"]
    (folder / "cases.jsonl.gz").unlink()
    (folder / "cases.jsonl.gz").symlink_to(secret)
    with pytest.raises(OSError, match="symbolic links"):
        publisher.zip_run(folder)
