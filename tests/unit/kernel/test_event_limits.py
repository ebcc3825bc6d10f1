"""Events with impossible numbers, of newer schemas, and over the limit; JSON of any value."""

from __future__ import annotations

import json
from base64 import b64encode
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from tests.fakes.media import BEEP, RED

from scoregate.errors import InvalidEvent
from scoregate.kernel.types import event_json, json_io
from scoregate.kernel.types.evaluation import Assertion, Usage
from scoregate.kernel.types.event_json import (
    MOST_COUNTED,
    describe_invalid_usage,
    drop_invalid_numbers,
    parse_event,
    parse_events,
    prepare_parser,
    truncate_event,
)
from scoregate.kernel.types.event_values import SCHEMA_VERSION, ErrorInfo, HumanReviewField, HumanReviewFieldContentType
from scoregate.kernel.types.events import (
    CaseFinished,
    CaseOutput,
    CaseStarted,
    Errored,
    Event,
    Labelled,
    Scored,
    SuiteFinished,
    SuiteStarted,
    ToolCalled,
)
from scoregate.kernel.types.inline_media import has_inline_media, replace_inline_media
from scoregate.kernel.types.json_io import (
    MAX_EVENT_BYTES,
    dump,
    dump_event,
    dump_plain,
    to_plain,
    to_plain_with_nan,
    to_text,
)
from scoregate.kernel.types.media import Media

OF_CASE: dict[str, Any] = {"suite": "s", "case": "c"}


def make_line(**fields: Any) -> bytes:
    return json.dumps({"v": SCHEMA_VERSION, "type": "case_finished", "suite": "s", "case": "c", **fields}).encode()


def nest(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("usage", "problem"),
    [
        (Usage(MOST_COUNTED - 1, cost=0.0), ""),
        (Usage(input_tokens=-1), "input_tokens = -1 is not a possible count"),
        (Usage(output_tokens=MOST_COUNTED), "output_tokens = a number of 54 bits is not a possible count"),
        (Usage(cached_tokens=-MOST_COUNTED), "cached_tokens = a number of 54 bits is not a possible count"),
        (Usage(cached_tokens=1 - MOST_COUNTED), f"cached_tokens = {1 - MOST_COUNTED} is not a possible count"),
        (Usage(calls=-2), "calls = -2 is not a possible count"),
        (Usage(stored=-3), "stored = -3 is not a possible count"),
        (Usage(stored=10**5_000), "stored = a number of 16,610 bits is not a possible count"),
        (Usage(cost=-0.5), "cost = -0.5 is not a possible cost"),
    ],
)
def test_an_impossible_usage_is_described(usage: Usage, problem: str) -> None:
    assert describe_invalid_usage(usage) == problem


def test_infinite_costs_are_impossible() -> None:
    for cost in (inf, nan):
        usage = Usage()
        object.__setattr__(usage, "cost", cost)
        assert describe_invalid_usage(usage) == f"cost = {cost:g} is not a possible cost"


def test_impossible_numbers_are_left_out_of_events() -> None:
    wrong = Usage(-1)
    for event, expected, messages in (
        (CaseOutput(**OF_CASE, duration_ms=0.0, usage=Usage(1)), None, ()),
        (CaseFinished(**OF_CASE), None, ()),
        (
            CaseOutput(**OF_CASE, output=1, duration_ms=-1, usage=wrong),
            CaseOutput(**OF_CASE, output=1),
            (
                "suite 's', case 'c': its usage is left out: input_tokens = -1 is not a possible count",
                "suite 's', case 'c': its duration is left out: duration_ms = -1",
            ),
        ),
        (
            SuiteFinished(suite="s" * 200, duration_s=inf),
            SuiteFinished(suite="s" * 200),
            (f"suite '{'s' * 99}: its duration is left out: duration_s = inf",),
        ),
        (
            ToolCalled(suite="s", case="c" * 200, name="t", duration_ms=nan),
            ToolCalled(suite="s", case="c" * 200, name="t"),
            (f"suite 's', case '{'c' * 99}: its duration is left out: duration_ms = nan",),
        ),
        (
            Scored(**OF_CASE, evaluator="e", score=1, usage=wrong),
            Scored(**OF_CASE, evaluator="e", score=1),
            ("suite 's', case 'c': its usage is left out: input_tokens = -1 is not a possible count",),
        ),
        (
            Labelled(**OF_CASE, evaluator="e", label="l", usage=wrong),
            Labelled(**OF_CASE, evaluator="e", label="l"),
            ("suite 's', case 'c': its usage is left out: input_tokens = -1 is not a possible count",),
        ),
    ):
        assert drop_invalid_numbers(event) == (event if expected is None else expected, messages)


@pytest.mark.parametrize(
    ("line", "message", "optional"),
    [
        (b"x", "not an event: expected value", False),
        (b"[]", "not an event: the line is not a JSON object", False),
        (make_line(v=SCHEMA_VERSION + 1), f"events of schema {SCHEMA_VERSION + 1} cannot be read", False),
        (make_line(v=SCHEMA_VERSION + 1, optional=True), f"events of schema {SCHEMA_VERSION + 1} cannot be read", True),
        (make_line(v=SCHEMA_VERSION + 1, type="new", optional=True), f"events of schema {SCHEMA_VERSION + 1}", True),
        (make_line(type="new"), "not an event: ", False),
        (make_line(type="new", optional=True), "not an event: ", True),
        (make_line(type="new", optional="yes"), "not an event: ", False),
        (make_line(repeat="x", optional=True), "not an event: repeat: ", False),
        (make_line(v="x"), "not an event: v: ", False),
        (b'{"type": "scored", "suite": "s", "case": "c", "score": "x"}', "not an event: ", False),
        (b'{"type": "scored", "suite": "s", "evaluator": "e", "score": "x"}', "not an event: ", False),
        (b'{"type": "scored", "suite": 5, "case": "c", "evaluator": "e", "score": 1}', "not an event: suite: ", False),
    ],
)
def test_a_line_that_is_no_event_has_a_reason(line: bytes, message: str, optional: bool) -> None:
    with pytest.raises(InvalidEvent) as exc_info:
        parse_event(line)
    assert str(exc_info.value).startswith(message)
    assert exc_info.value.optional is optional


def test_an_evaluation_that_cannot_be_read_is_an_error_of_its_case() -> None:
    key = {"suite": "s", "case": "c", "evaluator": "e"}
    for kind, wrong, field in (
        ("scored", {"score": "high", "repeat": 2}, "score"),
        ("scored", {"score": 1, "threshold": {"ge": 1}}, "threshold.ge"),
        ("labelled", {"label": 5}, "label"),
    ):
        event = parse_event(json.dumps({"type": kind, **key, **wrong}).encode())
        assert isinstance(event, Errored)
        assert (event.suite, event.case, event.evaluator, event.stage) == ("s", "c", "e", "evaluator")
        assert event.repeat == wrong.get("repeat", 0)
        assert event.error.type == "InvalidEvaluation"
        assert event.error.message.startswith(f"its evaluation cannot be read: {field}: ")


def test_a_line_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    line = make_line()
    monkeypatch.setattr(event_json, "MAX_EVENT_BYTES", len(line))
    assert isinstance(parse_event(line), CaseFinished)
    with pytest.raises(InvalidEvent, match=f"an event of {len(line) + 1} bytes is over the limit of {len(line)}"):
        parse_event(line + b" ")


def test_several_lines_are_parsed_together_if_all_are_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare_parser()
    line = make_line()
    array = b"[" + line + b"," + line + b"]"
    event = CaseFinished(**OF_CASE)
    assert parse_events(array, 2) == [event, event]
    assert parse_events(b"[]", 0) == []
    for wrong, count in ((array, 1), (array, 3), (array[:-1], 2), (b"[" + make_line(v=SCHEMA_VERSION + 1) + b"]", 1)):
        assert parse_events(wrong, count) is None
    monkeypatch.setattr(event_json, "MAX_EVENT_BYTES", len(array))
    assert parse_events(array, 2) is not None
    assert parse_events(array + b" ", 2) is None


def test_large_events_keep_the_start_of_their_data() -> None:
    long, note = "é" * 100_000, "… left out: too large"
    start = '"' + "é" * 49_999
    field = HumanReviewField("i", "v", HumanReviewFieldContentType.TEXT)
    cases: list[tuple[Event, Event]] = [
        (
            CaseStarted(**OF_CASE, name="n", input=long, review_inputs=(field,)),
            CaseStarted(**OF_CASE, name="n", input=start + note),
        ),
        (
            CaseOutput(**OF_CASE, output=long, attempts=2, review_outputs=(field,)),
            CaseOutput(**OF_CASE, output=start + note, attempts=2, truncated=True),
        ),
        (
            ToolCalled(**OF_CASE, name="t", arguments={"a": 1}, result=long),
            ToolCalled(**OF_CASE, name="t", arguments={"": '{"a":1}'}, result=note),
        ),
        (
            Scored(**OF_CASE, evaluator="e", score=1, metadata=long, assertions=(Assertion("a", True, True),)),
            Scored(**OF_CASE, evaluator="e", score=1, metadata={"metadata": start + note}),
        ),
        (
            Errored(**OF_CASE, stage="task", error=ErrorInfo("E", long, "trace", "a")),
            Errored(**OF_CASE, stage="task", error=ErrorInfo("E", note, "", "a")),
        ),
        (CaseStarted(**OF_CASE, name="n", input=object()), CaseStarted(**OF_CASE, name="n", input=note)),
    ]
    for event, expected in cases:
        assert truncate_event(event, "too large") == expected
    with pytest.raises(ValueError, match="a suite_started event: too large"):
        truncate_event(SuiteStarted(suite="s"), "too large")


def test_an_event_that_could_not_be_read_back_is_not_written() -> None:
    for levels, is_valid in ((180, True), (185, True), (220, False)):
        event = CaseOutput(**OF_CASE, output=nest(levels))
        if is_valid:
            assert parse_event(dump_event(event)) == event
        else:
            with pytest.raises(ValueError, match="its JSON could not be read back: "):
                dump_event(event)
    with pytest.raises(ValueError, match="its JSON could not be read back: "):
        dump_event(nest(193))
    assert dump_event(nest(191)) == b"[" * 191 + b"1" + b"]" * 191
    with pytest.raises(ValueError, match="its JSON could not be read back: "):
        dump_event(CaseOutput(**OF_CASE, output={"n": int("9" * 4_299) * 100}))
    assert MAX_EVENT_BYTES == 8 << 20


class Odd:
    """A value without a JSON form."""


def test_values_without_a_json_form_are_named() -> None:
    assert dump_plain([Odd(), 1]) == b'["<Odd>",1]'
    assert to_plain({"a": Odd(), "b": (1, {2})}) == {"a": "<Odd>", "b": [1, [2]]}
    assert to_plain(b"a") == b64encode(b"a").decode()
    assert to_plain([nan, inf]) == [None, None]
    kept = to_plain_with_nan([nan, inf, Odd()])
    assert (kept[0] != kept[0], kept[1], kept[2]) == (True, inf, "<Odd>")


def test_numbers_and_arrays_of_numpy_are_values(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"a": np.float64(0.5), "b": np.arange(3), "c": np.bool_(True), "d": np.datetime64("2026-01-31")}
    assert json.loads(dump({name: value[name] for name in "abc"})) == {"a": 0.5, "b": [0, 1, 2], "c": True}
    assert to_plain(value["b"]) == [0, 1, 2]
    monkeypatch.setattr(json_io, "_LARGEST_ARRAY", 3)
    assert to_plain(np.arange(3)) == [0, 1, 2]
    assert to_plain(np.arange(4)) == "<ndarray>"
    with pytest.raises(ValueError, match="Unable to serialize unknown type"):
        dump([np.arange(4)])


def test_lone_surrogates_are_written_as_their_escapes() -> None:
    value = {"\ud800": ["a\udfff", ("\ud800",), {"\ud801"}, frozenset({"b"})], "n": 1}
    assert json.loads(dump(value)) == {"\\ud800": ["a\\udfff", ["\\ud800"], ["\\ud801"], ["b"]], "n": 1}
    event = json.loads(dump(CaseStarted(**OF_CASE, name="\ud800", input=1)))
    assert (event["name"], event["suite"], event["input"]) == ("\\ud800", "s", 1)
    assert json.loads(dump_plain(["\ud800", Odd()])) == ["\\ud800", "<Odd>"]


def test_a_value_as_text_hides_the_names_of_media() -> None:
    assert (to_text("a"), to_text({"a": [1]}), to_text(None)) == ("a", '{"a":[1]}', "null")
    media = Media.from_bytes(RED, name="answer.png")
    assert to_text({"a": media}) == dump({"a": Media.from_bytes(RED)}).decode()
    assert "answer.png" not in to_text([media.reference()])


def encode(data: bytes) -> str:
    return b64encode(data).decode()


@pytest.mark.parametrize(
    ("start", "is_media"),
    [
        ("data:image/png;base64,", True),
        ("DATA:Audio/X-Wav;Base64,", True),
        ("data:image/svg+xml;charset=utf-8;base64,", True),
        (f"data:image/{'a' * 40};base64,", True),
        (f"data:image/{'a' * 41};base64,", False),
        ("data:image/png,", False),
        ("data:video/mp4;base64,", False),
        (" data:image/png;base64,", False),
    ],
)
def test_data_urls_of_images_and_audio_are_media(start: str, is_media: bool) -> None:
    found: list[Media] = []
    text = start + encode(RED)
    replaced = replace_inline_media([text], found)
    assert replaced == ([Media.from_bytes(RED).reference()] if is_media else [text])
    assert len(found) == is_media


def test_audio_of_messages_is_media() -> None:
    found: list[Media] = []
    data = encode(BEEP)
    reference = Media.from_bytes(BEEP).reference()
    assert replace_inline_media({"input_audio": {"data": data, "format": "wav"}}, found) == {
        "input_audio": {"data": reference, "format": "wav"}
    }
    url = f"data:audio/wav;base64,{data}"
    for value, expected in (
        ({"input_audio": {"data": 5}}, {"input_audio": {"data": 5}}),
        ({"input_audio": [url]}, {"input_audio": [reference]}),
        ({"audio": {"data": data}}, {"audio": {"data": data}}),
        ({"input_audio": {"data": "%%"}}, {"input_audio": {"data": "%%"}}),
        ((url,), (url,)),
        (5, 5),
    ):
        assert replace_inline_media(value, found) == expected
    assert [has_inline_media(each) for each in (b"data:image/", b"data:audio/", b'"input_audio":{', b"data:")] == [
        True, True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize("in_list", [True, False])
def test_media_deeper_than_200_levels_stay_text(in_list: bool) -> None:
    url = f"data:image/png;base64,{encode(RED)}"
    for levels, is_found in ((201, True), (202, False)):
        value: Any = url
        for _ in range(levels):
            value = [value] if in_list else {"a": value}
        found: list[Media] = []
        replace_inline_media(value, found)
        assert len(found) == is_found
