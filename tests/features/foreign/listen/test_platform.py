"""Calls to Autoblocks' platform at the real server: answered from the baseline outputs, and passed on to the report."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any

import anyio
import anyio.to_thread
import httpx
import pytest
from tests.features.foreign.listen.session import Ear, EmptyBook, Talk, connect_session, open_session

from scoregate.errors import StoreError
from scoregate.features.foreign.server import open_listener
from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.run.run_recorder import RunRecorder
from scoregate.kernel.types.events import ReviewRequested
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd

pytestmark = pytest.mark.anyio
BASELINE = "/cloud/test-suites/a%2Fb/test-cases/c%3F/baseline"


class OneChampion(EmptyBook):
    """Knows one champion."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], str] = {}

    def baseline_output(self, suite: str, case: str) -> str | None:
        return self.known.get((suite, case))

    def save_baseline_output(self, suite: str, case: str, output: str) -> None:
        self.known[suite, case] = output


class Damaged(EmptyBook):
    """Cannot be read, in a way that was foreseen or not."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def baseline_output(self, suite: str, case: str) -> str | None:  # noqa: ARG002
        raise self.error


async def get(talk: Talk, path: str, *, status: int = 200, method: str = "GET") -> Any:
    answer = await talk.client.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    return answer.json()


async def run_suite(talk: Talk, suite: str = "a/b") -> str:
    """A suite that has nothing wrong with it."""
    run = await talk.start(suite)
    await talk.result(run, testExternalId=suite)
    await talk.score(run, testExternalId=suite)
    await talk.end(run, suite)
    return run


async def test_a_baseline_output_is_stored_with_decoded_names(tmp_path: Path) -> None:
    book = OneChampion()
    async with open_session(tmp_path, book=book, redact=lambda body: body.replace(b"secret", b"***")) as talk:
        assert await get(talk, BASELINE) == {}
        await talk.post(BASELINE, {"baseline": "the secret best"})
        assert await get(talk, BASELINE) == {"baseline": "the *** best"}
        await talk.post(BASELINE, b"[]", status=400)
        await run_suite(talk)
    assert book.known == {("a/b", "c?"): "the *** best"}
    assert (talk.suite.errors, talk.notices) == ((), ())


async def test_a_first_battle_gives_no_score(tmp_path: Path) -> None:
    book = OneChampion()
    for folder, unscored in (("first", ("battle",)), ("second", ())):
        async with open_session(tmp_path / folder, book=book) as talk:
            run = await talk.start("a/b")
            for case in ("c?", "other"):
                await talk.result(run, case, testExternalId="a/b")
            await get(talk, BASELINE)
            await talk.post(BASELINE, {"baseline": "the best"})
            await talk.end(run, "a/b")
        assert [(case.hash, case.unscored) for case in talk.cases] == [("c?", unscored), ("other", ())]
        assert (talk.suite.evaluations, talk.suite.columns.unscored) == (0, len(unscored))
        assert len([notice for notice in talk.notices if "no baseline outputs" in notice]) == len(unscored)


async def test_a_first_battle_of_repeats_counts_for_each(tmp_path: Path) -> None:
    async with open_session(tmp_path, book=OneChampion()) as talk:
        run = await talk.start("a/b")
        for number in range(2):
            case = {"testExternalId": "a/b", "testCaseBody": {"input": "same"}}
            await talk.result(run, f"c?-{number}", **case)
            await talk.post(BASELINE, {"baseline": "the best"})
        await talk.end(run, "a/b")
    assert [(case.repeat, case.unscored) for case in talk.cases] == [(0, ("battle",)), (1, ("battle",))]


@pytest.mark.parametrize("error", [StoreError("the file is damaged"), RuntimeError("the file is damaged")])
async def test_a_damaged_baseline_is_not_green(tmp_path: Path, error: Exception) -> None:
    async with open_session(tmp_path, book=Damaged(error)) as talk:
        await run_suite(talk)
        for _ in range(3):
            assert "error" in await get(talk, BASELINE, status=500)
    (problem,) = (*talk.suite.errors, *talk.ear.failures)
    assert problem.type == type(error).__name__
    if isinstance(error, StoreError):
        assert talk.suite.errors == (problem,)


class Late(EmptyBook):
    """Fails when the line was closed meanwhile."""

    def __init__(self) -> None:
        self.asked, self.closed = Event(), Event()

    def baseline_output(self, suite: str, case: str) -> str | None:  # noqa: ARG002
        self.asked.set()
        self.closed.wait(60)
        raise RuntimeError("too late")


async def test_a_failure_after_the_end_is_ignored(tmp_path: Path) -> None:
    book = Late()

    async def ask(address: str) -> None:
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            assert (await client.get(address)).status_code == 500

    with RunWriter(tmp_path) as writer:
        ear = Ear(RunRecorder(writer))
        async with open_listener(bytes) as listener, anyio.create_task_group() as tasks:
            async with connect_session(listener, ear, book=book) as talk:
                tasks.start_soon(ask, f"{talk.client.base_url}{BASELINE.removeprefix('/')}")
                assert await anyio.to_thread.run_sync(book.asked.wait, 60)
            events = list(ear.events)
            book.closed.set()
        assert ear.events == events
        ear.recording.finish(Run("id", 0.0, RunEnd(1.0), RunCode("0")))


async def test_a_review_is_reported_only_once(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        run = await run_suite(talk)
        for person in ("ann@example.com", "bob@example.com"):
            body = {"assigneeEmailAddress": person, "name": "look"}
            assert await talk.post(f"/cloud/testing/ci/runs/{run}/human-review-job", body) == "ok"
        assert await talk.post("/cloud/testing/ci/runs/none/human-review-job", {"name": "other"}) == "ok"
    (review_event,) = [event for _, event in talk.ear.events if isinstance(event, ReviewRequested)]
    assert (review_event.suite, review_event.name, review_event.assignees) == ("a/b", "look", ("ann@example.com",))
    assert talk.suite.reviews == ("look",)
    assert [notice for notice in talk.notices if "other" in notice]


async def test_unknown_paths_stay_local_and_are_noticed(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        for method in ("GET", "GET", "POST", "DELETE"):
            await get(talk, "/cloud/prompts/one", status=404, method=method)
        for path in ("/cloud", "/cloud/", "/cloud/v2/otel/v1/traces"):
            await get(talk, path, status=404)
        await run_suite(talk)
    notices = [notice for notice in talk.notices if "was not sent there" in notice]
    assert [notice.rpartition(": ")[2] for notice in notices] == [
        "GET /prompts/one", "POST /prompts/one", "DELETE /prompts/one", "GET /", "GET /v2/otel/v1/traces",
    ]  # fmt: skip
    assert talk.suite.errors == ()


async def test_notices_are_limited(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk, anyio.create_task_group() as calls:
        for number in range(200):
            calls.start_soon(lambda number=number: get(talk, f"/cloud/prompts/{number}", status=404))
    assert len(talk.notices) < 50


async def test_other_paths_are_not_found(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        await get(talk, "/cloudy", status=404)
        await get(talk, "/start", status=404)
        stranger = str(talk.client.base_url).rpartition("/")[0].rpartition("/")[0] + "/guessed" + BASELINE
        assert (await talk.client.get(stranger)).status_code == 404
    assert talk.notices == ()
