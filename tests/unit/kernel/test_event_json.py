"""Events round-trip; what cannot be read back is not written."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scoregate.errors import InvalidEvent
from scoregate.kernel.types.evaluation import Assertion, Threshold, Usage
from scoregate.kernel.types.event_json import parse_event
from scoregate.kernel.types.event_values import (
    SCHEMA_VERSION,
    Choice,
    ErrorInfo,
    EvaluatorInfo,
    Fingerprint,
    HumanReviewField,
    HumanReviewFieldContentType,
    Origin,
)
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
from scoregate.kernel.types.json_io import MAX_EVENT_BYTES, dump, dump_event, sort_sets, to_plain

text = st.text(st.characters(exclude_categories=[]), max_size=20)
number = st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False)
content = st.recursive(
    st.none() | st.booleans() | number | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
small = st.integers(0, 2**40)
finite = st.floats(allow_nan=False, allow_infinity=False)
maybe = st.none() | text
place = st.none() | st.builds(Origin, text, small)
threshold = st.builds(Threshold, lt=st.none() | finite, gte=st.none() | finite)
assertion = st.builds(
    Assertion, text, st.booleans(), st.booleans(), st.none() | st.dictionaries(text, content, max_size=2)
)
usage = st.builds(Usage, small, small, small, st.none() | finite, maybe)
error = st.builds(ErrorInfo, text, text, text, text)
evaluator = st.builds(
    EvaluatorInfo,
    text,
    st.none() | st.builds(Fingerprint, maybe, maybe, maybe, maybe),
    st.booleans(),
    choices=st.lists(st.builds(Choice, st.floats(0, 1), text), max_size=2).map(tuple),
)
texts = st.lists(text, max_size=3).map(tuple)
review_field = st.builds(HumanReviewField, text, text, st.sampled_from(HumanReviewFieldContentType))
review_fields = st.lists(review_field, max_size=2).map(tuple)
common: dict[str, Any] = {"suite": text, "seq": small, "time": finite}
trial: dict[str, Any] = {**common, "case": text, "repeat": small}
perhaps_a_trial = {**trial, "case": maybe}
perhaps = st.none() | finite
stage = st.sampled_from(["task", "evaluator", "suite"])
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        SuiteStarted,
        **common,
        origin=place,
        evaluators=st.lists(evaluator, max_size=2).map(tuple),
        cases=st.none() | small,
        params=st.none() | st.dictionaries(text, content, max_size=2),
        sdk=maybe,
        message=maybe,
    ),
    st.builds(
        CaseStarted, **trial, name=text, input=content, digest=text, tags=texts, cluster=maybe, origin=place,
        dataset_item_id=maybe, review_inputs=review_fields,
    ),
    st.builds(
        CaseOutput, **trial, output=content, duration_ms=perhaps, attempts=small, usage=st.none() | usage,
        review_outputs=review_fields,
    ),
    st.builds(
        Scored,
        **trial,
        evaluator=text,
        score=st.floats(0, 1),
        threshold=st.none() | threshold,
        metadata=content,
        assertions=st.none() | st.lists(assertion, max_size=2).map(tuple),
        usage=st.none() | usage,
    ),
    st.builds(
        ToolCalled, **trial, name=text, arguments=st.dictionaries(text, content, max_size=2), result=content,
        error=maybe, duration_ms=perhaps, tokens=st.none() | small, agent=text,
    ),
    st.builds(Labelled, **trial, evaluator=text, label=text, metadata=content, usage=st.none() | usage),
    st.builds(Errored, **perhaps_a_trial, stage=stage, error=error, evaluator=maybe, trace=content),
    st.builds(ReviewRequested, **perhaps_a_trial, name=text, evaluator=maybe, assignees=texts, rubric=maybe),
    st.builds(CaseFinished, **trial, unscored=texts),
    st.builds(SuiteFinished, **common, duration_s=perhaps, assertion_failed=st.booleans()),
)  # fmt: skip


def escape_surrogates(value: Any) -> Any:
    """The value with every lone surrogate escaped, as in the record."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {escape_surrogates(name): escape_surrogates(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(escape_surrogates(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: escape_surrogates(getattr(value, field.name)) for field in fields(value)})
    return value


@given(events)
@example(CaseOutput(suite="\ud800", case="\udfff", output={"\udc00": ["a\ud83d"]}))
@example(Errored(suite="s", stage="task", error=ErrorInfo("E\ud800", "m\ud800", "t\ud800", "a\ud800")))
def test_every_event_round_trips(event: Event) -> None:
    assert parse_event(dump_event(event)) == escape_surrogates(event)


@given(events)
def test_an_event_is_a_line(event: Event) -> None:
    line = dump_event(event)
    assert b"\n" not in line
    assert b"\r" not in line
    line.decode("utf-8")


@given(content)
def test_plain_content_is_unchanged(value: Any) -> None:
    assert to_plain(value) == escape_surrogates(value)


@given(text)
def test_a_lone_surrogate_is_escaped(value: str) -> None:
    assert to_plain(value) == value.encode("utf-8", "backslashreplace").decode()


@given(st.sets(text | st.integers() | st.none(), max_size=6))
def test_equal_sets_are_equal_text(value: set[Any]) -> None:
    padding = {f"padding {number}" for number in range(50)}
    otherwise_laid_out = (value | padding) - (padding - value)
    assert dump(sort_sets(value)) == dump(sort_sets(otherwise_laid_out)) == dump(sort_sets(frozenset(value)))
    assert len(sort_sets(value)) == len(value)


@pytest.mark.parametrize("depth", [1, 100, 150])
def test_nested_content_round_trips(depth: int) -> None:
    value: Any = "end"
    for _ in range(depth):
        value = {"in": [value]} if depth == 1 else [value]
    event = CaseOutput(suite="s", case="c", output=value)
    assert parse_event(dump_event(event)) == event


@pytest.mark.parametrize("depth", [200, 210, 240, 300, 100_000])
def test_too_deep_content_is_not_written(depth: int) -> None:
    value: Any = "end"
    for _ in range(depth):
        value = [value]
    with pytest.raises(ValueError, match=r"(?i)depth|recursion"):
        dump_event(CaseOutput(suite="s", case="c", output=value))


def test_many_flat_brackets_are_not_deep() -> None:
    event = CaseOutput(suite="s", case="c", output=[{"a": []}] * 5000)
    assert parse_event(dump_event(event)) == event


GOOD = b'{"type":"case_finished","suite":"s","case":"c"}'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"", "EOF"),
        (b"hello", "expected value"),
        (GOOD[:-5], "EOF while parsing"),
        (b"[]", "not a JSON object"),
        (b"{}", "Unable to extract tag"),
        (GOOD.replace(b"case_finished", b"case_vanished"), "does not match any of the expected tags"),
        (GOOD.replace(b',"case":"c"', b""), "case: Field required"),
        (GOOD.replace(b'"c"', b"5"), "case: Input should be a valid string"),
        (b'{"type":"scored","suite":"s","case":"c","score":null}', "evaluator: Field required"),
        (b'{"type":"scored","suite":"s","case":["c"],"evaluator":"e","score":1}', "case: Input should be"),
        (b'{"type":"scored","suite":"s","case":"c","evaluator":"e","score":1,"v":2}', "schema 2"),
        (b'{"type":"errored","suite":"s","stage":"lunch","error":{"type":"E","message":"m"}}', "stage"),
        (b'{"type":"case_finished","suite":"s","case":"\xff"}', "not an event"),
        (b'{"type":"case_finished","suite":"s","case":"\\ud800"}', "not an event"),
        (b"[" * 100_000, "not an event"),
        (b" " * MAX_EVENT_BYTES + GOOD, "over the limit of 8,388,608"),
    ],
)  # fmt: skip
def test_an_invalid_line_is_refused(line: bytes, message: str) -> None:
    with pytest.raises(InvalidEvent) as exc_info:
        parse_event(line)
    assert message in str(exc_info.value)
    assert len(str(exc_info.value)) < 400
    assert not exc_info.value.optional


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        (b'"score":null', "score: Input should be a valid number"),
        (b'"score":"0.9"', "score: Input should be a valid number"),
        (b'"threshold":{"gte":1}', "score: Field required"),
        (b'"score":1,"threshold":{"gte":NaN}', "finite"),
        (b'"score":1,"threshold":{"ge":1}', "threshold.ge: Unexpected keyword"),
        (b'"score":1,"threshold":{"gte":"1"}', "threshold.gte: Input should be a valid number"),
        (b'"score":1,"threshold":0.5', "threshold: Input should be"),
        (b'"score":1,"assertions":["polite"]', "assertions.0: Input should be"),
    ],
)
def test_an_invalid_evaluation_of_a_known_case_is_an_error_of_its_evaluator(rest: bytes, message: str) -> None:
    event = parse_event(b'{"type":"scored","suite":"s","case":"c","repeat":1,"evaluator":"e",' + rest + b"}")
    assert isinstance(event, Errored)
    assert (event.suite, event.case, event.repeat, event.evaluator, event.stage) == ("s", "c", 1, "e", "evaluator")
    assert message in event.error.message


@pytest.mark.parametrize(
    ("line", "optional"),
    [
        (b'{"type":"thought","suite":"s","optional":true}', True),
        (b'{"type":"thought","suite":"s","optional":"yes"}', False),
        (b'{"type":"thought","suite":"s"}', False),
        (b'{"type":"suite_started","suite":"s","v":2,"optional":true}', True),
        (b'{"type":"case_finished","suite":"s","optional":true}', False),
    ],
)
def test_an_event_of_a_newer_version_can_be_optional(line: bytes, *, optional: bool) -> None:
    with pytest.raises(InvalidEvent) as exc_info:
        parse_event(line)
    assert exc_info.value.optional is optional


def test_an_event_of_a_newer_schema_is_not_read() -> None:
    with pytest.raises(InvalidEvent, match=f"schema {SCHEMA_VERSION + 1} cannot be read"):
        parse_event(GOOD[:-1] + b',"v":%d}' % (SCHEMA_VERSION + 1))


def test_fields_of_a_newer_minor_version_are_ignored() -> None:
    assert parse_event(GOOD[:-1] + b',"colour":"red"}') == CaseFinished(suite="s", case="c")
