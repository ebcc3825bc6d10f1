"""Old lines stay readable."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from scoregate.kernel.types.evaluation import Assertion, Threshold, Usage
from scoregate.kernel.types.event_json import parse_event
from scoregate.kernel.types.event_values import Choice, ErrorInfo, EvaluatorInfo, Fingerprint, ListedTool, Origin
from scoregate.kernel.types.events import (
    CaseFinished,
    CaseOutput,
    CaseStarted,
    Errored,
    Event,
    Labelled,
    ReviewRequested,
    Scored,
    SuiteFinished,
    SuiteStarted,
    ToolCalled,
)
from scoregate.kernel.types.json_io import dump_event

LOG = Path(__file__).parent / "documents" / "events-v1.jsonl"
OLDER = [
    LOG.with_name(f"events-v1-before-{name}.jsonl") for name in ("boolean", "calls", "scale", "tests_failed", "tools")
]
CHOICES = (Choice(1, "good"), Choice(0.5))
EVENTS: list[Event] = [
    SuiteStarted(
        suite="bot",
        seq=0,
        time=1.5,
        origin=Origin("evals/bot.py", 7),
        evaluators=(
            EvaluatorInfo(
                "exact", Fingerprint("s", "p", "a", "m", "1.2"), False, True, (Choice(1, "good"), Choice(0.5))
            ),
            EvaluatorInfo("other"),
        ),
        cases=2,
        params={"temperature": 0},
        sdk="scoregate 0.1.0",
        message="nightly",
    ),
    CaseStarted(
        suite="bot", seq=1, time=2.0, case="a", name="Ask", input={"q": "é"}, digest="d", tags=("t",), cluster="c"
    ),
    CaseOutput(
        suite="bot",
        seq=2,
        time=2.5,
        case="a",
        output=[1, None],
        duration_ms=3.25,
        attempts=2,
        usage=Usage(1, 2, 3, 0.5, "m"),
    ),
    Scored(
        suite="bot",
        seq=3,
        time=3.0,
        case="a",
        evaluator="exact",
        score=0.5,
        threshold=Threshold(gte=1),
        metadata={"why": "x"},
        assertions=(Assertion("polite", True, False, {"n": 1}),),
        usage=Usage(4, 5),
    ),
    Errored(
        suite="bot",
        seq=4,
        time=3.5,
        stage="evaluator",
        case="a",
        evaluator="other",
        error=ErrorInfo("E", "m", "t", "a"),
        usage=Usage(6, 7, cost=0.25, model="m"),
    ),
    ReviewRequested(
        suite="bot", seq=5, time=4.0, name="look", case="a", evaluator="human", assignees=("x@y",), rubric="r"
    ),
    CaseFinished(suite="bot", seq=6, time=4.5, case="a", unscored=("third",)),
    CaseStarted(suite="bot", seq=7, time=5.0, case="a", repeat=1),
    Labelled(suite="bot", seq=8, time=5.25, case="a", repeat=1, evaluator="tone", label="odd", metadata={"why": "x"}),
    SuiteFinished(suite="bot", seq=9, time=5.5, duration_s=9.0, assertion_failed=True, usage=Usage(8)),
]


def test_lines_of_version_1_are_read() -> None:
    assert [parse_event(line) for line in LOG.read_bytes().splitlines()] == EVENTS


def test_lines_of_an_older_sdk_are_read() -> None:
    for older in OLDER:
        assert [parse_event(line) for line in older.read_bytes().splitlines()] == EVENTS


def test_a_tool_call_round_trips() -> None:
    line = (
        b'{"type":"tool_called","suite":"bot","seq":3,"time":2.75,"v":1,"case":"a","repeat":1,"name":"search",'
        b'"arguments":{"q":"hours"},"result":["at 9"],"error":"late","duration_ms":1.5,"tokens":7,"agent":"helper"}'
    )
    event = ToolCalled(
        suite="bot",
        seq=3,
        time=2.75,
        case="a",
        repeat=1,
        name="search",
        arguments={"q": "hours"},
        result=["at 9"],
        error="late",
        duration_ms=1.5,
        tokens=7,
        agent="helper",
    )
    assert parse_event(line) == event
    assert json.loads(dump_event(event)) == json.loads(line)


def test_listed_tools_have_one_form() -> None:
    line = (
        b'{"type":"suite_finished","suite":"bot","tools":[{"server":"shop","name":"search","description":"d",'
        b'"arguments":"a","result":""}]}'
    )
    event = SuiteFinished(suite="bot", tools=(ListedTool("shop", "search", "d", "a"),))
    assert parse_event(line) == event
    assert json.loads(dump_event(event))["tools"] == json.loads(line)["tools"]


def test_a_fingerprint_without_a_version_is_read() -> None:
    started = LOG.read_bytes().splitlines()[0]
    older = parse_event(started.replace(b',"version":"1.2"', b""))
    assert isinstance(older, SuiteStarted)
    assert older.evaluators[0].fingerprint == Fingerprint("s", "p", "a", "m")


def test_an_end_without_usage_is_read() -> None:
    *_, ended = LOG.read_text("utf-8").splitlines()
    before, _, _ = ended.partition(',"usage":')
    assert parse_event(f"{before}}}".encode()) == replace(EVENTS[-1], usage=None)


def test_lines_are_still_equal() -> None:
    assert [dump_event(event).decode() for event in EVENTS] == LOG.read_text(encoding="utf-8").splitlines()


def test_other_programs_can_omit_fields_with_defaults() -> None:
    lines = [
        b'{"type":"suite_started","suite":"s"}',
        b'{"type":"case_started","suite":"s","case":"a"}',
        b'{"type":"case_output","suite":"s","case":"a","output":"x"}',
        b'{"type":"tool_called","suite":"s","case":"a","name":"search"}',
        b'{"type":"scored","suite":"s","case":"a","evaluator":"e","score":1}',
        b'{"type":"errored","suite":"s","stage":"task","error":{"type":"E","message":"m"}}',
        b'{"type":"review_requested","suite":"s","name":"look"}',
        b'{"type":"case_finished","suite":"s","case":"a"}',
        b'{"type":"suite_finished","suite":"s"}',
    ]
    assert [parse_event(line).type for line in lines] == [line.split(b'"')[3].decode() for line in lines]


def test_lines_without_choices_are_read() -> None:
    event = parse_event(b'{"type": "suite_started", "suite": "bot", "evaluators": [{"id": "exact", "battles": true}]}')
    assert isinstance(event, SuiteStarted)
    assert event.evaluators == (EvaluatorInfo("exact", battles=True),)


def test_invalid_choices_are_dropped_and_names_are_bounded() -> None:
    line = b'{"type": "suite_started", "suite": "bot", "evaluators": [{"id": "exact", "choices": %b}]}'
    for choices, kept in (
        ([{"value": 0, "name": "x" * 1_000}], (Choice(0, "x" * 200),)),
        ([{"value": 1}] * 101, ()),
        ([{"value": 7}], ()),
    ):
        event = parse_event(line % json.dumps(choices).encode())
        assert isinstance(event, SuiteStarted)
        assert event.evaluators[0].choices == kept
