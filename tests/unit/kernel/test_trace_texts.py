"""Spans as text for judges and as plain data."""

from __future__ import annotations

from scoregate.kernel.types.trace import CALL_ARGUMENTS, Span, Trace


def test_spans_are_indented_below_their_parents_without_times_and_ids() -> None:
    trace = Trace(
        "t",
        (
            Span("1", "plan", attributes={"model": "m"}, start_ns=5),
            Span("3", "search", parent_id="2", attributes={"input": "q", CALL_ARGUMENTS: "{}"}, error="no\nroute"),
            Span("2", "act", parent_id="1"),
            Span("4", "other", parent_id="gone", attributes={CALL_ARGUMENTS: {"a": 1}}),
        ),
    )
    assert trace.text().splitlines() == [
        "- plan",
        "    model: m",
        "  - act",
        "    - search (failed: no",
        "route)",
        "        input: q",
        "- other",
        f"    {CALL_ARGUMENTS}: {{'a': 1}}",
    ]
    assert Trace("t").text() == ""


def test_an_empty_error_is_a_failure() -> None:
    assert Trace("t", (Span("1", "a", error=""),)).text() == "- a (failed: )"


def test_long_parts_and_texts_are_cut_in_the_middle() -> None:
    span = Span("1", "n" * 4_001, attributes={"a": "v" * 4_001}, error="e" * 4_001)
    name, value = Trace("t", (span,)).text().splitlines()
    assert [name.count("n") > 3_900, name.count("e") > 3_900, value.count("v") > 3_900] == [True] * 3
    assert [each.count("characters left out") for each in (name, value)] == [2, 1]
    spans = tuple(Span(str(index), "n" * 50) for index in range(500))
    assert 19_000 < len(Trace("t", spans).text()) <= 20_000
    assert len(Trace("t", spans).text(longest=200)) <= 200


def test_fifty_levels_are_shown() -> None:
    spans = tuple(Span(str(index), f"s{index}", parent_id=str(index - 1)) for index in range(60))
    lines = Trace("t", spans).text().splitlines()
    assert (len(lines), lines[-1]) == (51, f"{'  ' * 50}- s50")


def test_plain_data_has_every_field() -> None:
    span = Span("1", "a", events=({"name": "e"},))
    assert Trace("t", (span,)).plain() == {
        "trace_id": "t",
        "spans": [
            {
                "span_id": "1",
                "name": "a",
                "parent_id": "",
                "start_ns": 0,
                "end_ns": 0,
                "kind": 1,
                "attributes": {},
                "events": ({"name": "e"},),
                "error": None,
            }
        ],
    }
