"""What the SDKs say becomes the run that they mean."""

from __future__ import annotations

import time
from pathlib import Path

import anyio
import httpx
import pytest
from tests.features.foreign.listen.session import NODE, open_session

from scoregate.features.foreign import session
from scoregate.kernel.types.evaluation import Assertion, Threshold
from scoregate.kernel.types.event_values import HumanReviewField, HumanReviewFieldContentType
from scoregate.kernel.types.runs.cases import CaseKey, Status

pytestmark = pytest.mark.anyio


async def test_a_suite_is_recorded_as_sent(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        await talk.result(run, "a", {"text": "A"}, testCaseBody={"input": "x", "n": [1, None]})
        await talk.score(run, "a", 0.25, threshold={"gte": 0.5, "lt": None}, metadata={"why": "short"})
        assertions = [{"criterion": "polite", "passed": True, "required": False, "metadata": None}]
        await talk.score(run, "a", 1, evaluatorExternalId="rubric", threshold=None, assertions=assertions)
        await talk.error(run, "a", "judge")
        await talk.error(run, "b")
        await talk.end(run)
    suite, (a, b) = talk.suite, talk.cases
    assert (suite.id, suite.complete, suite.errors, suite.script) == ("bot", True, (), "command")
    assert suite.duration_s is not None
    assert (a.hash, a.name, a.input, a.output) == ("a", "a", {"input": "x", "n": [1, None]}, {"text": "A"})
    assert (a.duration_ms, a.truncated, len(a.digest)) == (1.5, False, 8)
    assert a.evaluations["exact"].score == 0.25
    assert a.evaluations["exact"].threshold == Threshold(gte=0.5)
    assert a.evaluations["exact"].metadata == {"why": "short"}
    assert a.evaluations["rubric"].assertions == (Assertion("polite", True, False),)
    assert [(e.evaluator, e.error.type, e.error.message) for e in a.errors] == [("judge", "ValueError", "boom")]
    assert (a.status, b.status) == (Status.FAILED, Status.ERRORED)
    assert [(e.evaluator, e.error.traceback) for e in b.errors] == [(None, "Traceback…")]
    assert talk.notices == ()


async def test_review_fields_and_dataset_items_are_kept(tmp_path: Path) -> None:
    fields = [
        {"name": "question", "value": "**why?**", "contentType": "markdown"},
        {"name": "odd", "value": "kind", "contentType": ["pdf"]},
        {"name": "no text", "value": 5},
        "no field",
    ]
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        more = {"testCaseHumanReviewInputFields": fields, "testCaseHumanReviewOutputFields": None}
        await talk.result(run, "a", datasetItemId="item-1", **more)
        await talk.result(run, "b", datasetItemId=7, testCaseHumanReviewOutputFields=fields[:1])
        await talk.end(run)
    a, b = talk.cases
    question = HumanReviewField("question", "**why?**", HumanReviewFieldContentType.MARKDOWN)
    assert (a.dataset_item_id, b.dataset_item_id) == ("item-1", None)
    assert (a.review_inputs, a.review_outputs) == ((question, HumanReviewField("odd", "kind")), ())
    assert (b.review_inputs, b.review_outputs) == ((), (question,))


async def test_nulls_equal_missing_keys(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        run = (await talk.post("/start", {"testExternalId": "bot"}))["id"]
        least = {"testExternalId": "bot", "runId": run, "testCaseHash": "a"}
        await talk.post("/results", least | {"testCaseBody": {}, "testCaseOutput": None})
        await talk.post("/evals", least | {"evaluatorExternalId": "e", "score": 1, "threshold": {}})
        await talk.post("/evals", least | {"evaluatorExternalId": "f", "score": 1, "threshold": {"gte": None}})
        await talk.post("/end", {"testExternalId": "bot", "runId": run})
    assert {name: evaluation.threshold for name, evaluation in talk.case.evaluations.items()} == {"e": None, "f": None}
    assert (talk.case.duration_ms, talk.notices) == (None, ())


async def test_the_last_call_wins(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        ids = [await talk.result(run, "a", output) for output in ("first", "second")]
        await talk.score(run, "a", 0, threshold={"gte": 1})
        await talk.score(run, "a", 1, threshold={"gte": 1})
        await talk.end(run)
    assert ids[0] == ids[1]
    assert (talk.case.output, talk.case.evaluations["exact"].score) == ("second", 1)
    assert talk.suite.passed


@pytest.mark.parametrize("error_first", [True, False])
async def test_an_evaluator_error_and_score_are_both_kept(tmp_path: Path, error_first: bool) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        await talk.result(run)
        if error_first:
            await talk.error(run, "a", "exact")
        await talk.score(run, threshold={"gte": 1})
        if not error_first:
            await talk.error(run, "a", "exact")
        await talk.end(run)
    assert talk.case.evaluations["exact"].score == 1
    assert talk.case.status is Status.ERRORED


async def test_a_score_may_come_before_its_result(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        await talk.score(run)
        await talk.result(run)
        await talk.end(run)
    assert (talk.case.output, talk.case.evaluations["exact"].score) == ("out", 1)


async def test_numbered_hashes_of_one_input_are_repeats(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        for number in (1, 0, 2):
            await talk.result(run, f"h-{number}", number, testCaseBody={"input": "same"})
        await talk.error(run, "h-3")
        for case in ("i-0", "i-1", "j-0", "k", "k-0", "k-1", "l-1", "l-2"):
            await talk.result(run, case, testCaseBody={"input": case if case.startswith("i") else "same"})
        await talk.end(run)
    assert [case.key for case in talk.cases] == [
        *(CaseKey("h", repeat) for repeat in (1, 0, 2, 3)),
        *(CaseKey(case) for case in ("i-0", "i-1", "j-0", "k", "k-0", "k-1", "l-1", "l-2")),
    ]
    assert [case.output for case in talk.cases[:3]] == [1, 0, 2]


async def test_repeats_that_all_raised_are_repeats(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        for number in range(3):
            await talk.error(run, f"h-{number}")
        await talk.end(run)
    assert [case.key for case in talk.cases] == [CaseKey("h", repeat) for repeat in range(3)]


@pytest.mark.parametrize("agent", [NODE, "curl/8.5.0"])
async def test_no_other_sdk_numbers_its_repeats(tmp_path: Path, agent: str) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start(agent=agent)
        for case in ("q-0", "q-1"):
            await talk.result(run, case, testCaseBody={"input": "same"})
            await talk.error(run, f"raised-{case}")
        await talk.end(run)
    assert {case.key for case in talk.cases} == {CaseKey(case) for case in ("q-0", "q-1", "raised-q-0", "raised-q-1")}


async def test_runs_of_a_grid_are_separated_by_parameters(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        grid = (await talk.post("/grids", {"gridSearchParams": {"model": ["a", "b"]}}))["id"]
        body = [{"gridSearchRunGroupId": grid, "gridSearchParamsCombo": {"model": model}} for model in ("a", "b")]
        runs = [await talk.start(**each) for each in body]
        async with anyio.create_task_group() as tasks:
            for run, score in zip(runs, (0, 1), strict=True):
                tasks.start_soon(talk.result, run)
                tasks.start_soon(talk.score, run, "a", score)
        for run in runs:
            await talk.end(run)
    assert {suite.label: suite.mean("exact") for suite in talk.suites} == {"bot [model=a]": 0, "bot [model=b]": 1}
    assert {tally.label for tally in talk.ear.tallies} == {"bot [model=a]", "bot [model=b]"}


async def test_concurrent_suites_are_separate(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        runs = {suite: await talk.start(suite) for suite in ("one", "two")} | {"again": await talk.start("one")}
        for case in range(5):
            for index, run in enumerate(runs.values()):
                await talk.score(run, f"c{case}", index / 2)
        for name, run in runs.items():
            await talk.end(run, suite={"again": "one"}.get(name, name))
    assert [(suite.id, suite.mean("exact"), len(suite.columns)) for suite in talk.suites] == [
        ("one", 0, 5),
        ("two", 0.5, 5),
        ("one", 1, 5),
    ]
    assert all(suite.complete for suite in talk.suites)


async def test_calls_without_a_run_id_go_to_the_last_run(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        await talk.start()
        await talk.start("other")
        await talk.result(None)
        await talk.score("unknown")
        await talk.end(None)
        await talk.end(None, "other")
    assert [(suite.id, len(suite.columns), suite.complete) for suite in talk.suites] == [
        ("bot", 1, True),
        ("other", 0, True),
    ]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1, 2]", [1, 2]),
        ("null", None),
        ("nullify", "nullify"),
        ("plain", "plain"),
        ("{no json", "{no json"),
        ("3", "3"),
        ("true", "true"),
    ],
)
async def test_javascript_sends_objects_as_texts(tmp_path: Path, sent: str, kept: object) -> None:
    async with open_session(tmp_path) as talk:
        for agent in (NODE, "python-httpx/0.27"):
            run = await talk.start(agent=agent)
            await talk.result(run, output=sent)
            await talk.end(run)
    assert [case.output for case in talk.cases] == [kept, sent]
    assert [event.sdk for _, event in talk.ear.events if event.type == "suite_started"] == [
        "autoblocks-js",
        "autoblocks-python",
    ]


async def test_unselected_suites_get_answers_but_no_record(tmp_path: Path) -> None:
    async with open_session(tmp_path, suites=["bot*"]) as talk:
        for suite in ("robot", "bot-2", "robot"):
            run = await talk.start(suite)
            event = {"testExternalId": suite, "runId": run, "testCaseHash": "a"}
            assert "id" in await talk.post("/results", event | {"testCaseBody": {}, "testCaseOutput": 1})
            await talk.post("/evals", event | {"evaluatorExternalId": "e", "score": 1})
            await talk.error(run, testExternalId=suite)
            await talk.end(run, suite)
    assert [suite.id for suite in talk.suites] == ["bot-2"]
    assert [notice for notice in talk.notices if "robot" in notice] == [
        "command: suite 'robot' is not recorded: it matches no --suite"
    ]
    assert talk.run is not None
    assert talk.run.scope.left_out == ("robot",)


async def test_progress_is_reported_live(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        started = time.monotonic()
        run = await talk.start()
        await talk.result(run, "a")
        await talk.score(run, "a", 0, threshold={"gte": 0.5})
        await talk.score(run, "a", 1, threshold={"gte": 0.5})
        await talk.score(run, "b", 0.5, threshold={"gte": 1})
        await talk.error(run, "c")
        await talk.result(run, "d")
        with anyio.fail_after(60):
            while talk.ear.tallies[-1].done < 4:  # noqa: ASYNC110
                await anyio.sleep(0.01)
        before = talk.ear.tallies[-1]
        intervals = (time.monotonic() - started) / session._PROGRESS_EVERY_S
        await talk.end(run)
    assert (before.log, before.label, before.planned, before.finished) == (run, "bot", None, False)
    assert before.states == {Status.PASSED: 1, Status.FAILED: 1, Status.ERRORED: 1, Status.UNSCORED: 1}
    assert before.means == {"exact": 0.75}
    last = talk.ear.tallies[-1]
    assert (last.finished, last.done, last.states) == (True, 4, before.states)
    assert (before.duration_s, last.duration_s) == (None, talk.suite.duration_s)
    assert len(talk.ear.tallies) <= 2 + intervals, "one at the start, one at the end, and one in each interval"


async def test_calls_of_old_sdks_are_answered(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        event = {"message": "m", "traceId": "t", "timestamp": "2026-01-01T00:00:00Z", "properties": {}}
        body = {"testExternalId": "bot", "runId": run, "testCaseHash": "a", "event": event}
        assert await talk.post("/events", body) == "ok"
        assert await talk.post("/info", {"language": "python", "testCaseHashes": []}) == "ok"
        await talk.end(run)
    assert (talk.suite.errors, talk.notices) == ((), ())


async def test_it_answers_get(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        base = httpx.URL(str(talk.client.base_url)).join("/")
        assert base.host == "127.0.0.1"
        assert [(await talk.client.get(url)).json() for url in (base, "/")] == ["scoregate"] * 2
    assert talk.suites == ()
