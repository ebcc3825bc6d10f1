"""The slices of a run: which values cases have, and how many are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from scoregate.features.slices import cases as slices
from scoregate.features.slices.cases import (
    LONGEST_VALUE,
    collect_slices,
)
from scoregate.features.slices.declare import MOST_FIELDS, find_limited_fields
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult


def run_of(*bodies: Any, tags: Mapping[int, tuple[str, ...]] | None = None, repeats: int = 1) -> Run:
    columns, cases = Columns(), []
    for index, body in enumerate(bodies):
        for repeat in range(repeats):
            case = CaseResult(0, f"c{index}", repeat, input=body, tags=(tags or {}).get(index, ()))
            columns.add(case)
            cases.append(case)
    suite = SuiteResult("bot", "bot", trials=Trials(columns))
    return Run("r", 0.0, RunEnd(1.0), RunCode("1"), suites=(suite,), read=lambda: iter(cases))


def read_values(case: CaseResult, field: str) -> tuple[str, ...]:
    columns = Columns()
    columns.add(case)
    run = Run(
        "r",
        0.0,
        RunEnd(1.0),
        RunCode("1"),
        suites=(SuiteResult("bot", "bot", trials=Trials(columns)),),
        read=lambda: iter([case]),
    )
    [found] = collect_slices(run, [field])
    return tuple(found[field])


def test_a_field_is_looked_up_in_the_input_its_metadata_and_nested_parts() -> None:
    body = {
        "language": "fr",
        "level": 2,
        "score": 0.5,
        "urgent": True,
        "topics": ["tax", "visa", "tax", {"no": 1}],
        "metadata": {"topic": "tax", "team": {"name": "a"}},
        "input": {"kind": "short", "language": "hidden"},
        "nothing": None,
        "infinite": float("inf"),
    }
    case = CaseResult(0, "c", input=body, tags=("x", "y"))
    found = {
        "language": ("fr",),
        "level": ("2",),
        "score": ("0.5",),
        "urgent": ("true",),
        "topics": ("tax", "visa"),
        "topic": ("tax",),
        "metadata.topic": ("tax",),
        "metadata.team.name": ("a",),
        "kind": ("short",),
        "tag": ("x", "y"),
        "tags": ("x", "y"),
        "nothing": (),
        "infinite": (),
        "metadata": (),
        "unknown": (),
        "language.deeper": (),
    }
    assert {field: read_values(case, field) for field in found} == found
    assert read_values(CaseResult(0, "c", input="a text"), "language") == ()


def test_values_are_one_line_of_limited_length() -> None:
    hostile = "a\n\tb" + "x" * 10_000
    [value] = read_values(CaseResult(0, "c", input={"f": hostile}), "f")
    assert (len(value), value[:4], value[-1]) == (LONGEST_VALUE, "a bx", "…")
    assert read_values(CaseResult(0, "c", input={"f": 10**5_000}), "f") == ()
    assert len(read_values(CaseResult(0, "c", tags=tuple(map(str, range(1_000)))), "tag")) == 20


def test_each_case_counts_once_in_the_row_of_its_first_trial() -> None:
    run = run_of({"l": "fr"}, {"l": "de"}, {"l": "fr"}, "text", repeats=3, tags={1: ("new",)})
    [found] = collect_slices(run, ["l", "tag", "l"])
    assert {field: {value: list(rows) for value, rows in of.items()} for field, of in found.items()} == {
        "l": {"fr": [0, 6], "de": [3]},
        "tag": {"new": [3]},
    }


def test_equal_contents_of_different_types_are_different_values() -> None:
    contents = [1, True, 1.5, "1", "true", " true ", ["1", "true"], ["1", []], {"a": 1}, None, float("nan"), "x" * 500]
    run = run_of(*({"f": each} for each in (*contents, *contents)))
    [found] = collect_slices(run, ["f"])
    expected: dict[str, list[int]] = {}
    for row, content in enumerate((*contents, *contents)):
        for value in read_values(CaseResult(0, "c", input={"f": content}), "f"):
            expected.setdefault(value, []).append(row)
    assert {value: list(rows) for value, rows in found["f"].items()} == expected
    assert expected["1"] == [0, 3, 6, 7, 12, 15, 18, 19]


def test_without_fields_no_case_is_read() -> None:
    def read() -> Any:
        raise AssertionError

    assert collect_slices(Run("r", 0.0, RunEnd(1.0), RunCode("1"), suites=run_of({}).suites, read=read), []) == ()


def test_fields_and_values_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "MOST_VALUES", 3)
    run = run_of(*({f"f{index}": str(index) for index in range(20)} | {"id": index} for index in range(10)), {"id": 0})
    [found] = collect_slices(run, ["id", *(f"f{index}" for index in range(20))])
    assert len(found) == MOST_FIELDS
    assert {value: list(rows) for value, rows in found["id"].items()} == {"0": [0, 10], "1": [1], "2": [2]}


def test_limits_have_the_field_before_the_first_sign() -> None:
    names = ["language=fr", "metadata.topic=a=b", "tag=*", "*=fr", "language", "=fr", "[l]=fr"]
    assert list(find_limited_fields(names)) == ["language", "metadata.topic", "tag"]
