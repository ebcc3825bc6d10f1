"""Odd values are accepted if a refusal would cost a run, and never recorded as invented scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.features.foreign.listen.session import NODE, open_session

from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.types.evaluation import Assertion
from scoregate.kernel.types.json_io import MAX_EVENT_BYTES

pytestmark = pytest.mark.anyio


def body(**fields: str) -> bytes:
    """A body whose values are JSON as they stand."""
    known = {"testExternalId": '"bot"', "runId": '"http-1"', "testCaseHash": '"a"', "evaluatorExternalId": '"exact"'}
    return ("{" + ",".join(f'"{name}":{value}' for name, value in (known | fields).items()) + "}").encode()


@pytest.mark.parametrize(("score", "taken"), [(True, 1), (False, 0)])
async def test_true_and_false_are_scores_and_noticed_once(tmp_path: Path, score: bool, taken: float) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        for case in "abc":
            await talk.score(run, case, score)
        await talk.end(run)
    assert talk.suite.mean("exact") == taken
    assert talk.notices == (
        "command: suite 'bot', scorer 'exact': it returns true or false as its score, which counts as 1 or 0",
    )


@pytest.mark.parametrize(
    "fields",
    [
        *({"score": score} for score in ("NaN", "Infinity", "-Infinity", "null", '"0.5"', "[1]", "{}", "7.5", "-0.1")),
        {"score": "1e999"},
        {"score": "1" * 4000},
        {},
        {"score": "1", "threshold": '{"gte": "high"}'},
        {"score": "1", "threshold": '{"gte": NaN}'},
        {"score": "1", "threshold": "0.5"},
    ],
)
async def test_an_invalid_score_is_an_evaluator_error(tmp_path: Path, fields: dict[str, str]) -> None:
    async with open_session(tmp_path) as talk:
        await talk.start()
        assert await talk.post("/evals", body(**fields)) == "ok"
        await talk.end(None)
    assert talk.case.evaluations == {}
    (error,) = talk.case.errors
    assert (error.evaluator, error.error.type in ("TypeError", "ValueError")) == ("exact", True)
    assert not talk.suite.passed


@pytest.mark.parametrize("value", ["text", ["a", 1], None, 3.5, {"nested": {"x": [None]}}])
async def test_all_bodies_are_recorded(tmp_path: Path, value: object) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        await talk.result(run, testCaseBody=value, somethingNew=True)
        await talk.end(run)
    assert talk.case.input == value
    assert talk.notices == ()


@pytest.mark.parametrize("duration", [-1, "fast", True, [1], float("nan"), 10**400])
async def test_an_invalid_duration_is_dropped_with_notice(tmp_path: Path, duration: object) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        await talk.result(run, testCaseDurationMs=duration)
        await talk.end(run)
    assert talk.case.duration_ms is None
    assert talk.notices == ("command: suite 'bot' reports durations that are not valid; they are ignored",)


async def test_invalid_assertions_are_dropped_with_notice(tmp_path: Path) -> None:
    good = {"criterion": "polite", "passed": True, "required": True, "metadata": "why not"}
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        odd: list[Any] = [good, 3, {"criterion": 1}, {**good, "passed": "yes"}]
        await talk.score(run, assertions=odd)
        await talk.end(run)
    assert talk.case.evaluations["exact"].assertions == (Assertion("polite", True, True, {"value": "why not"}),)
    assert len(talk.notices) == 1


async def test_lone_surrogates_are_escaped(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        await talk.start(agent=NODE)
        fields = body(testCaseBody=r'{"q": "\ud83d\ude00 \\ud83d"}', testCaseOutput=r'"cut \ud83d"')
        await talk.post("/results", fields, agent=NODE)
        await talk.post("/results", body(testCaseHash='"b"', testCaseOutput='"').rstrip(b"}") + b'\xff"}')
        nested = json.dumps('{"cut": "\\ud83d"}')
        await talk.post("/results", body(testCaseHash='"c"', testCaseOutput=nested), agent=NODE)
        await talk.end(None)
    a, b, c = talk.cases
    assert (a.input, a.output) == ({"q": "😀 \\ud83d"}, "cut \\ud83d")
    assert (b.output, c.output) == ("\N{REPLACEMENT CHARACTER}", {"cut": "\\ud83d"})


async def test_long_ids_stay_different_and_bounded(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start("s" * 5_000)
        for end in ("x", "y", "x"):
            await talk.result(run, "c" * 5_000 + end)
        await talk.end(run, "s" * 5_000)
    assert len({case.hash for case in talk.cases}) == len(talk.cases) == 2
    assert max(map(len, (talk.suite.id, *(case.hash for case in talk.cases)))) < 1_100


async def test_odd_values_are_errors(tmp_path: Path) -> None:
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        for case, error in enumerate([None, "text", {"name": None, "message": {"a": 1}}, {"message": "x" * 100_000}]):
            await talk.error(run, str(case), error=error)
        await talk.end(run)
    errors = [case.errors[0].error for case in talk.cases]
    assert [error.type for error in errors] == ["Error"] * 4
    assert [error.message for error in errors[:3]] == ["", "text", '{"a":1}']
    assert len(errors[3].message) < 5_000


async def test_another_openai_client_is_noticed(tmp_path: Path) -> None:
    message = "The accuracy evaluator requires openai version 1.x. You have openai version 3.51.0 installed."
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        await talk.error(run, "a", "accuracy", error={"name": "ImportError", "message": message, "stacktrace": ""})
        await talk.end(run)
    assert "openai>=1,<2" in talk.case.errors[0].error.advice


async def test_large_values_are_marked_as_shortened(tmp_path: Path) -> None:
    large = "x" * (MAX_EVENT_BYTES + 1)
    async with open_session(tmp_path) as talk:
        run = await talk.start()
        await talk.result(run, "a", large, testCaseBody={"input": large})
        await talk.result(run, "b", "y" * 5_000_000, testCaseBody={"input": "z" * 5_000_000})
        await talk.score(run, "a", 1, metadata={"why": large})
        await talk.end(run)
    a, b = talk.cases
    assert (a.truncated, b.truncated) == (True, False)
    for shortened in (a.input, a.output, a.evaluations["exact"].metadata):
        assert "left out" in str(shortened)
        assert len(str(shortened)) < 101_000
    assert a.evaluations["exact"].score == 1
    assert (len(b.output), len(b.input["input"])) == (5_000_000, 5_000_000)


@pytest.mark.parametrize("agent", [NODE, "python-httpx/1"])
async def test_unrecordable_values_are_dropped_as_errors(tmp_path: Path, agent: str) -> None:
    deep = "[" * 195 + "]" * 195
    sent = json.dumps(deep) if agent == NODE else deep
    async with open_session(tmp_path) as talk:
        run = await talk.start(agent=agent)
        await talk.post("/results", body(testCaseOutput=sent), agent=agent)
        await talk.post("/evals", body(score="1", metadata=deep), agent=agent)
        await talk.end(run)
    assert (talk.case.output, talk.case.evaluations["exact"].metadata) == (None, None)
    assert {(error.evaluator, error.error.type) for error in talk.case.errors} == {
        (None, "NotRecordable"),
        ("exact", "NotRecordable"),
    }


async def test_secrets_are_redacted_if_declared_later(tmp_path: Path) -> None:
    redact = Redactor(["sesame-open"])
    async with open_session(tmp_path, redact=redact) as talk:
        run = await talk.start()
        await talk.result(run, "a", "sesame-open and hocus-pocus")
        redact.learn_from("::add-mask::hocus-pocus")
        await talk.error(run, error={"message": "sesame-open"})
        await talk.end(run)
    assert talk.case.output == "*** and ***"
    assert talk.suite.errors[0].message == "***"
