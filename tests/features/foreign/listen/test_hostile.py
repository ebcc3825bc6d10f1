"""Whatever is sent is answered in JSON within bounds, and an answer that is an error is never a green run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from unittest import mock

import anyio
import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_core import to_json
from tests.features.foreign.listen.session import Talk, open_session

from scoregate.features.foreign.case_index import Spool
from scoregate.kernel.types.event_json import parse_event

pytestmark = pytest.mark.anyio
MEGABYTE = 1024 * 1024
PATHS = ("/start", "/grids", "/results", "/evals", "/errors", "/events", "/end", "/info")


async def run_green_suite(talk: Talk) -> None:
    """One suite that is green by itself."""
    run = await talk.start()
    await talk.score(run, threshold={"gte": 1})
    await talk.end(run)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no json",
        b"[]",
        b'"text"',
        b"{}",
        b'{"testExternalId": ""}',
        b'{"testExternalId": 7}',
        b'{"testExternalId": ["bot"]}',
        b'{"testExternalId": "bot", "testCaseHash": "a", "testCaseBody": ' + b"[" * 100_000,
        b'{"testExternalId": "bot", "testCaseHash": "a", "testCaseOutput": ' + b"9" * 5_000 + b"}",
        b'{"testExternalId": "bot"}',
        b'{"testExternalId": "bot", "testCaseHash": ""}',
        b'{"testExternalId": "bot", "testCaseHash": {"a": 1}}',
    ],
    ids=range(13),
)
async def test_an_invalid_call_is_refused_and_fails_the_run(tmp_path: Path, body: bytes) -> None:
    async with open_session(tmp_path) as talk:
        await run_green_suite(talk)
        for _ in range(3):  # as Python's SDK does
            assert "error" in await talk.post("/results", body, status=400)
    errors = [error.message for error in talk.suite.errors] + talk.failures
    assert [message.startswith("POST /results: ") for message in errors] == [True]


async def test_an_unknown_call_is_not_found_and_fails_the_run(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        assert "error" in await talk.post("/scores", {"testExternalId": "bot"}, status=404)
        assert (await talk.client.get("/results")).status_code == 404
    assert talk.failures == ["POST /scores: there is no such call in the protocol"]
    assert talk.suites == ()


async def test_calls_without_token_fail(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        root = httpx.URL(str(talk.client.base_url)).join("/")
        for path in ("start", "x/start", f"{'a' * 22}/start"):
            answer = await talk.client.post(root.join(path), json={"testExternalId": "bot"})
            assert (answer.status_code, answer.json()) == (404, {"error": "not found"})
    assert talk.suites == ()


async def test_bodies_over_the_limit_are_refused(tmp_path: Path) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(66):
            yield b"x" * MEGABYTE

    async with open_session(tmp_path) as talk:
        answer = await talk.client.post("/results", content=endless())
        assert (answer.status_code, "error" in answer.json()) == (413, True)
        await run_green_suite(talk)
    assert (len(talk.failures), talk.suite.errors) == (1, ())


@pytest.mark.parametrize(("running", "blamed"), [(1, 1), (2, 0)])
async def test_an_unreadable_body_counts_for_the_only_suite(tmp_path: Path, running: int, blamed: int) -> None:
    async with open_session(tmp_path) as talk:
        runs = [(f"bot-{number}", await talk.start(f"bot-{number}")) for number in range(running)]
        await talk.post("/results", b"x" * (65 * MEGABYTE), status=413)
        for suite, run in runs:
            await talk.end(run, suite)
    assert (sum(len(suite.errors) for suite in talk.suites), len(talk.failures)) == (blamed, 1 - blamed)


async def test_a_disconnect_during_a_body_is_ignored(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        url = httpx.URL(str(talk.client.base_url))
        for length in (100, 20 * MEGABYTE):
            stream = await anyio.connect_tcp(url.host, url.port or 80)
            head = f"POST {url.path}results HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n"
            await stream.send(head.encode() + b"{" * (length - 1))
            await stream.aclose()
        with anyio.fail_after(30):
            await run_green_suite(talk)
    assert talk.suite.passed


async def test_an_internal_error_fails_the_run(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        with mock.patch.object(Spool, "add", side_effect=OSError("no space")):
            event = {"testExternalId": "bot", "runId": run, "testCaseHash": "a", "testCaseOutput": 1}
            assert "error" in await talk.post("/results", event, status=500)
        await talk.end(run)
    assert [(error.type, "no space" in error.message) for error in talk.suite.errors] == [("OSError", True)]
    assert talk.suite.complete
    assert not talk.suite.passed


async def test_errors_and_notices_have_a_limit(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        for number in range(150):
            await talk.error(run, error={"message": f"number {number}"})
            await talk.score(run, evaluatorExternalId=f"e{number}", score=True)
        await talk.end(run)
    assert len(talk.suite.errors) == 101
    assert talk.suite.errors[-1].message.startswith("… and more")
    assert talk.failures == []
    assert len(talk.notices) == 31
    assert talk.notices[-1] == "command: … and 120 more such notices"


ids = st.none() | st.sampled_from(["bot", "a", "http-1", ""]) | st.integers() | st.lists(st.integers())
anything = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5)
fields = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("testExternalId", "runId", "testCaseHash", "evaluatorExternalId"), ids),
        **dict.fromkeys(("testCaseBody", "testCaseOutput", "testCaseDurationMs", "gridSearchParamsCombo"), anything),
        **dict.fromkeys(("score", "metadata", "assertions", "error", "gridSearchParams"), anything),
        "threshold": st.dictionaries(st.sampled_from(["lt", "gte", "other"]), anything) | anything,
    },
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=st.lists(st.tuples(st.sampled_from(PATHS), fields), max_size=15))
async def test_any_calls_are_answered_in_json_and_can_be_recorded(
    tmp_path: Path, calls: list[tuple[str, dict[str, object]]]
) -> None:
    statuses = []
    async with open_session(tmp_path) as talk:
        for path, body in calls:
            answer = await talk.client.post(path, content=to_json(body, inf_nan_mode="constants"))
            assert answer.json() is not None
            statuses.append(answer.status_code)
    assert set(statuses) <= {200, 400}
    if 400 in statuses:
        assert talk.failures or any(suite.errors for suite in talk.suites)
    for _, event in talk.ear.events:
        assert parse_event(to_json(event, inf_nan_mode="null")).suite == event.suite
    assert talk.cases is not None
