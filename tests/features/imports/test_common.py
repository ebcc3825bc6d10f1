"""What importers share: texts, numbers, scales, thresholds and names of untrusted files."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from scoregate.features.imports.common import (
    MET,
    FreeNames,
    Grade,
    Trial,
    check_elements,
    count,
    defined_fields,
    error,
    excerpt,
    flag,
    matching_threshold,
    milliseconds,
    name_suite,
    pass_fail_grade,
    read_scales,
    read_table,
    read_tables,
    show_position,
    table,
    tables,
    text,
    to_unit_scale,
    usage,
    with_unique_names,
)
from scoregate.kernel.types.evaluation import Threshold, Usage


def test_texts_flags_and_tables_of_other_types_are_empty() -> None:
    assert [text(each) for each in ("a", 7, 0, True, None, 1.5, [], {})] == ["a", "7", "0", "", "", "", "", ""]
    assert [flag(each) for each in (True, False, 1, 0, "true", None)] == [True, False, None, None, None, None]
    assert [dict(table(each)) for each in ({"a": 1}, [], None, "a")] == [{"a": 1}, {}, {}, {}]
    assert list(tables([{"a": 1}, 2, {"b": 2}])) == [{"a": 1}, {"b": 2}]
    assert list(tables({"a": {}})) == list(tables(None)) == []


def test_a_table_with_results_must_be_one() -> None:
    assert (dict(read_table(None, "x")), dict(read_table({"a": 1}, "x"))) == ({}, {"a": 1})
    assert (read_tables(None, "x"), read_tables([{"a": 1}], "x")) == ([], [{"a": 1}])
    with pytest.raises(ValueError, match=r"^`grades` is not an object: \[1\]$"):
        read_table([1], "grades")
    with pytest.raises(ValueError, match=r'^`rows` is not an array: {"a":1}$'):
        read_tables({"a": 1}, "rows")
    with pytest.raises(ValueError, match=r"^element 2 of `rows` is not an object: 5$"):
        list(check_elements([{}, 5], "rows"))
    for read in (read_table, read_tables):
        with pytest.raises(ValueError, match=f": {'a' * 40}…$"):
            read("a" * 41, "x")
    with pytest.raises(ValueError, match=f": {'a' * 40}…$"):
        list(check_elements(["a" * 41], "x"))


def test_counts_are_whole_and_exact() -> None:
    assert [count(each) for each in (3, 3.9, 0, -1, "3", None, True, inf, 2**53 - 1, 2**53)] == [
        3, 3, 0, 0, 0, 0, 0, 0, 2**53 - 1, 0,
    ]  # fmt: skip
    assert [milliseconds(each) for each in (1.5, 0, -1, None, nan)] == [1500, 0, None, None, None]


def test_usage_is_known_if_any_part_is() -> None:
    assert usage(0, None, cost=None) is usage(0, 0, cached=0, cost=0, model="m") is None
    assert usage(3, 0, cost=None) == Usage(3, 0, 0, None, None)
    assert usage(0, 4, cost=None, model="m") == Usage(0, 4, 0, None, "m")
    assert usage(0, 0, cached=5, cost=None) == Usage(0, 0, 5)
    assert usage(0, 0, cost=0.25) == Usage(0, 0, 0, 0.25)
    assert usage(1, 2, cached=3, cost=0) == Usage(1, 2, 3, 0.0)


def test_fields_without_a_value_are_left_out() -> None:
    assert defined_fields(a=None, b="", c={}, d=[], e=0, f=False, g="x") == {"e": 0, "f": False, "g": "x"}


def test_an_excerpt_is_one_short_line() -> None:
    assert excerpt("a\n  b\tc ") == "a b c"
    assert excerpt({"b": [1, "ö"]}) == '{"b":[1,"ö"]}'
    assert (excerpt("a" * 120), excerpt("a" * 121)) == ("a" * 120, "a" * 120 + "…")
    assert excerpt("abcdef", 3) == "abc…"
    # Of a long text four times the limit is read, in which spaces may be left out.
    assert excerpt("a   " * 1_000, 3) == "a a…"
    assert excerpt(" " * 12 + "b", 3) == ""
    assert excerpt(" " * 11 + "b", 3) == "b"


def test_names_are_on_one_line() -> None:
    assert name_suite(" a \n b ") == "a b"
    assert len(name_suite("x" * 500)) < 250
    assert name_suite("x" * 500 + "a") != name_suite("x" * 500 + "b")
    assert (show_position("3", "Hello"), show_position("", "Hello")) == ("3: Hello", "Hello")
    assert show_position("3", "a" * 81) == f"3: {'a' * 80}…"
    assert show_position("", "a" * 121) == f"{'a' * 120}…"


def test_equal_names_of_a_group_get_numbers() -> None:
    names = FreeNames()
    taken = [names.take(name) for name in ("a", "a", "b", "a #2", "a", "a")]
    assert taken == ["a", "a #2", "b", "a #2 #2", "a #3", "a #4"]
    assert (names.take("a", 1), names.take("a", 1)) == ("a", "a #2")
    grades = [Grade("q"), Grade(""), Grade("q"), Grade("  ")]
    assert [grade.evaluator for grade in with_unique_names(grades)] == ["q", "unnamed", "q #2", "unnamed #2"]


def test_an_error_keeps_the_start_of_its_message_and_the_end_of_its_traceback() -> None:
    limit = 32_000
    made = error("K" * 201, "m" * limit + "x", "x" + "t" * limit)
    assert (made.type, made.message, made.traceback) == ("K" * 200, "m" * limit, "t" * limit)
    assert error("Kind", None).message == error("Kind", "").message == "no message"
    assert error("Kind", 5).message == "5"


def test_the_input_is_shown_with_short_metadata() -> None:
    metadata = {"topic": "law", "page": 3, "scores": [1], "empty": ""}
    short = {"topic": "law", "page": 3}
    assert Trial("a", input="q", metadata=metadata).described_input == {"input": "q", "metadata": short}
    assert Trial("a", input=None, metadata=metadata).described_input == {"metadata": short}
    assert Trial("a", input={"q": 1}, metadata=metadata).described_input == {"q": 1, "metadata": short}
    assert Trial("a", input={"metadata": 1}, metadata=metadata).described_input == {"metadata": 1}
    assert Trial("a", input="q", metadata={"scores": [1]}).described_input == "q"
    assert Trial("a").described_input is None


def test_a_scale_has_two_finite_ends() -> None:
    stated: dict[str, Any] = {
        "stars": [1, 5],
        "reversed": [5, 1],
        "point": [1, 1],
        "three": [1, 2, 3],
        "one": [1],
        "words": ["1", 5],
        "endless": [0, inf],
        "too wide": [-1.7e308, 1.7e308],
        "text": "15",
    }
    assert read_scales({"scales": stated}) == {"stars": (1, 5)}
    assert read_scales({"scales": [1]}) == read_scales(None) == read_scales({}) == {}


def test_a_score_on_a_scale_keeps_its_own_value_and_verdict() -> None:
    scales = {"stars": (1.0, 5.0)}
    some = Usage(1)
    grade = to_unit_scale(Grade("stars", 4, Threshold(gte=3), {"reason": "r"}, some), scales)
    assert grade == Grade("stars", 0.75, Threshold(gte=0.5), {"value": 4, "scale": [1.0, 5.0], "reason": "r"}, some)
    assert to_unit_scale(Grade("stars", 4), scales).threshold is None
    for other in (Grade("moons", 4), Grade("stars"), Grade("stars", True), Grade("stars", None, error=error("E", "m"))):
        assert to_unit_scale(other, scales) is other


@pytest.mark.parametrize(
    ("score", "passed", "limit", "threshold"),
    [
        (0.7, None, 0.5, None),
        (0.7, True, 0.5, Threshold(gte=0.5)),
        (0.4, False, 0.5, Threshold(gte=0.5)),
        (0.7, False, 0.5, Threshold(lte=0.5)),
        (0.4, True, 0.5, Threshold(lte=0.5)),
        (0.5, True, 0.5, Threshold(gte=0.5)),
        (0.5, False, 0.5, Threshold(gt=0.5)),
        (1.0, True, None, MET),
        (0.0, False, None, MET),
        (0.9, False, None, MET),
        (0.9, True, None, None),
        (1.0, False, None, None),
        (1.0, True, nan, MET),
        (1.0, True, inf, MET),
    ],
)
def test_a_threshold_gives_the_verdict_of_the_framework(
    score: float, passed: bool | None, limit: float | None, threshold: Threshold | None
) -> None:
    assert matching_threshold(score, passed, limit) == threshold
    if threshold is not None:
        assert threshold.holds(score) is passed


def test_a_verdict_is_a_score_with_a_threshold() -> None:
    assert pass_fail_grade("passed", True, {"reason": "r"}) == Grade("passed", True, Threshold(gte=1), {"reason": "r"})
    assert pass_fail_grade("passed", False).score is False
