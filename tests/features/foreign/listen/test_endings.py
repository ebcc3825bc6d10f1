"""No silent green: suites that never start, never end, or report too late."""

from __future__ import annotations

import signal
from pathlib import Path

import anyio
import httpx
import pytest
from tests.features.foreign.listen.session import Ear, EmptyBook, connect_session, open_session

from scoregate.features.foreign.server import open_listener
from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.run.run_recorder import RunRecorder

pytestmark = pytest.mark.anyio


async def test_an_unfinished_suite_has_no_end_event(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        await talk.result(run, "a")
        await talk.score(run, "a", threshold={"gte": 1})
        await talk.start("silent")
    bot, silent = talk.suites
    assert (bot.complete, bot.passed, bot.mean("exact"), len(bot.columns)) == (False, False, 1, 1)
    assert (silent.complete, len(silent.columns)) == (False, 0)
    assert not any(tally.finished for tally in talk.ear.tallies)


async def test_a_cancelled_run_reports_its_events(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        ear = Ear(RunRecorder(writer))
        async with open_listener(bytes) as listener:
            with anyio.CancelScope() as scope:
                async with connect_session(listener, ear) as talk:
                    run = await talk.start()
                    for case in range(500):
                        await talk.score(run, str(case))
                    scope.cancel()
                    await anyio.sleep(5)
            assert scope.cancelled_caught
    assert sum(event.type == "case_finished" for _, event in ear.events) == 500


async def test_an_error_before_the_start(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        await talk.error(None)
        await talk.error(None)
    assert [(error.type, error.message) for error in talk.suite.errors] == [("ValueError", "boom")]
    assert not talk.suite.complete


async def test_an_error_of_the_suite_itself(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        await talk.score(run)
        await talk.end(run)
        await talk.error(None)
    assert (len(talk.suite.errors), talk.suite.complete, talk.suite.passed) == (1, True, False)


async def test_cases_without_a_start(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        await talk.result("of-another-server")
        await talk.score(None)
        await talk.end(None)
        await talk.end(None, "nobody")
    assert (talk.suite.complete, talk.case.output, talk.case.evaluations["exact"].score) == (True, "out", 1)
    assert talk.notices == (
        "command: suite 'bot' reports cases, but never started",
        "command: suite 'nobody' ended, but never started",
    )


async def test_a_call_after_the_end_is_an_error(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        await talk.score(run, threshold={"gte": 0})
        for _ in range(3):
            await talk.end(run)
        await talk.score(run, "late", 0, threshold={"gte": 1})
    assert (len(talk.cases), talk.suite.complete, talk.suite.passed) == (1, True, False)
    assert [error.type for error in talk.suite.errors] == ["TooLate"]


async def test_closed_sessions_return_404(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        ear = Ear(RunRecorder(writer))
        async with open_listener(bytes) as listener:
            async with listener.connect(ear, EmptyBook()) as line:
                pass
            async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
                answer = await client.post(f"{line.address}/start", json={"testExternalId": "bot"})
    assert (answer.status_code, ear.events) == (404, [])


async def test_two_sessions_of_a_server_differ(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "1") as one, RunWriter(tmp_path / "2") as two:
        ears = Ear(RunRecorder(one)), Ear(RunRecorder(two))
        async with (
            open_listener(bytes) as listener,
            connect_session(listener, ears[0]) as a,
            connect_session(listener, ears[1]) as b,
        ):
            runs = await a.start("a"), await b.start("b")
            await a.end(runs[0], "a")
    assert runs[0] == runs[1]
    assert [[event.suite for _, event in ear.events] for ear in ears] == [["a", "a"], ["b"]]


async def test_a_hanging_client_does_not_delay_the_end(tmp_path: Path) -> None:
    with anyio.fail_after(40):
        async with open_session(tmp_path) as talk:
            url = httpx.URL(str(talk.client.base_url))
            hanging, idle = [await anyio.connect_tcp(url.host, url.port or 80) for _ in range(2)]
            await hanging.send(f"POST {url.path}end HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{{".encode())
            await talk.start()
        await hanging.aclose()
        await idle.aclose()


async def test_the_host_keeps_signals() -> None:
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    async with open_listener(bytes):
        await anyio.sleep(0.05)
        assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


async def test_a_failed_write_is_a_failure_of_the_host(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="closed file"):
        await broken_recording(tmp_path)


async def broken_recording(folder: Path) -> None:
    with RunWriter(folder) as writer:
        async with open_listener(bytes) as listener, connect_session(listener, Ear(RunRecorder(writer))) as talk:
            run = await talk.start()
            await talk.score(run)
            writer.close()
            await talk.end(run)


async def test_a_second_suite_of_one_name_is_not_measured(tmp_path: Path) -> None:
    """A comparison would pair them by their order. The combinations of a grid search have one name."""
    async with open_session(tmp_path) as talk:
        for params in ({"size": 1}, {"size": 2}, None, None):
            run = await talk.start(gridSearchParamsCombo=params)
            await talk.result(run, "a")
            await talk.score(run, "a", threshold={"gte": 1})
            await talk.end(run)
    errors = [[error.message for error in suite.errors] for suite in talk.suites]
    assert errors == [[], [], [], ["suite 'bot': a suite with this name ran before; give each a name of its own"]]
    assert [suite.passed for suite in talk.suites] == [True, True, True, False]
