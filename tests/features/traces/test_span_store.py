"""Which case each span of a program belongs to."""

from __future__ import annotations

import tracemalloc
from contextlib import closing
from typing import Any

from scoregate.features.traces.span_store import SpanStore
from scoregate.kernel.types.trace import Span
from scoregate.kernel.types.trajectories.assignment import CaseName
from scoregate.kernel.types.trajectories.otlp import OtlpSpan


def make(span: int, parent: int = 0, case: Any = None, trace: str = "a", resource: Any = None, **more: Any) -> OtlpSpan:
    attributes = {**({} if case is None else {"scoregate.case": case}), **more}
    parent_id = f"{parent:x}" if parent else ""
    return OtlpSpan(trace, Span(f"{span:x}", f"s{span}", parent_id, attributes=attributes), resource or {})


def assign(*spans: OtlpSpan) -> tuple[dict[CaseName, list[str]], int]:
    with closing(SpanStore()) as store:
        store.add(spans)
        unassigned = store.assign()
        found = {name: [span.name for span in of] for name, of in store.read_cases(100_000)}
    return found, unassigned


def test_a_span_belongs_to_its_nearest_ancestor_with_a_name() -> None:
    # A child may arrive before its parent.
    assigned = assign(make(4, 3), make(1), make(2, 1, "x"), make(3, 2), make(5, 1, "y"), make(6, 5), make(7, 99))
    assert assigned == ({CaseName("", "x", 0): ["s4", "s2", "s3"], CaseName("", "y", 0): ["s5", "s6"]}, 2)


def test_else_the_name_of_the_process_or_of_the_trace_counts() -> None:
    only = {CaseName("", "x", 0): ["s1", "s2"]}
    assert assign(make(1), make(2, 1, "x")) == (only, 0)
    of_process = {"scoregate.case": "p", "scoregate.suite": "s", "scoregate.repeat": "2"}
    assert assign(make(1, resource=of_process)) == ({CaseName("s", "p", 2): ["s1"]}, 0)
    assert assign(make(1, case="x"), make(2, trace="b")) == ({CaseName("", "x", 0): ["s1"]}, 1)


def test_a_repeated_span_counts_once() -> None:
    assert assign(make(1, case="x"), make(2, 1), make(2, 1), make(2)) == (
        {CaseName("", "x", 0): ["s1", "s2", "s2"]},
        0,
    )


def test_invalid_names_are_ignored() -> None:
    for more in ({"case": 5}, {"case": ""}, {"case": "x", "scoregate.suite": 1}, {"case": "x", "scoregate.repeat": -1}):
        assert assign(make(1, **more)) == ({}, 1)  # type: ignore[arg-type]
    assert assign(make(1, case="x", **{"scoregate.repeat": "9" * 50})) == ({}, 1)


def test_loops_and_long_chains_end() -> None:
    assert assign(make(1, 2), make(2, 1), make(3, 3)) == ({}, 3)
    chain = [make(number + 1, number) for number in range(1, 50_000)]
    found, unassigned = assign(make(1, case="x"), *reversed(chain))
    assert (len(found[CaseName("", "x", 0)]), unassigned) == (50_000, 0)


def test_spans_over_the_limit_of_a_case_are_counted() -> None:
    with closing(SpanStore()) as store:
        store.add([make(number, case="x" if number < 8 else "y") for number in range(1, 10)])
        assert store.assign() == 0
        assert store.count_extra(5) == 2
        assert [(name.case, len(spans)) for name, spans in store.read_cases(5)] == [("x", 5), ("y", 2)]
        assert store.count_extra(7) == 0


def test_spans_are_stored_in_a_file() -> None:
    tracemalloc.start()
    with closing(SpanStore()) as store:
        for part in range(100):
            text = "x" * 1_000
            store.add([make(index, trace=f"{part}", case=f"{part}", text=f"{text}{index}") for index in range(100)])
        assert store.assign() == 0
        sizes = [len(spans) for _, spans in store.read_cases(200)]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sizes == [100] * 100
    assert most < 2_000_000  # of 10 MB
