"""The identity of cases: positions in names, bounded names and digests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from scoregate.kernel.types.event_values import EvaluatorInfo, Fingerprint
from scoregate.kernel.types.fingerprint_changes import describe_fingerprint_change
from scoregate.kernel.types.identity import (
    bounded_name,
    digest,
    find_positional_names,
    identify_case,
    select_short_fields,
    split_position,
)
from scoregate.kernel.types.json_io import sort_sets


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("row 3", ("", (3,))),
        ("Case 3", ("", (3,))),
        ("cases_12", ("", (12,))),
        ("test_case_3", ("", (3,))),
        ("conversational_test_case_0", ("", (0,))),
        ("Question #3", ("", (3,))),
        ("sales row 3", ("sales row", (3,))),
        ("a\nitem: 7", ("a\nitem", (7,))),
        ("a.input.123456789", ("a.input", (123456789,))),
        ("row 1234567890", None),
        ("brow 3", None),
        ("row", None),
        ("row 3 b", None),
        ("", None),
        ("test[3]", ("test[]", (3,))),
        ("test[case3]", ("test[case]", (3,))),
        ("test[case3-0]", ("test[case-]", (3, 0))),
        ("test[my_row_3-1]", ("test[my_row_-]", (3, 1))),
        ("test[gpt-4-case3]", ("test[gpt-4-case]", (3,))),
        ("test[gpt-4]", None),
        ("test[a]", None),
        ("a[1][case2]", ("a[1][case]", (2,))),
    ],
)
def test_a_position_is_split_from_a_name(name: str, split: tuple[str, tuple[int, ...]] | None) -> None:
    assert split_position(name) == split


def test_a_very_long_name_has_no_position() -> None:
    assert split_position("x" * 993 + " case 3") is not None
    assert len("x" * 993 + " case 3") == 1_000
    assert split_position("x" * 994 + " case 3") is None


@pytest.mark.parametrize(
    ("names", "positional"),
    [
        (["row 0", "row 1"], True),
        (["row 1", "row 2", "row 3"], True),
        (["row 3", "row 1", "row 2"], True),
        (["row 2", "row 3"], False),
        (["row 0", "row 2"], False),
        (["row 0", "row 0"], True),
        (["row 0"], False),
        (["0", "1"], True),
        (["a", "b"], False),
        (["t[0-0]", "t[0-1]", "t[1-0]"], True),
        (["t[0-0]", "t[0-2]"], False),
        (["t[5-0]", "t[5-1]"], False),
    ],
)
def test_names_are_positions_if_they_are_a_series(names: list[str], positional: bool) -> None:
    assert find_positional_names(names) == (names if positional else [])


def test_each_kind_of_name_is_a_series_of_its_own() -> None:
    assert find_positional_names(["row 0", "other", "a row 5", "1", "a row 6", "2"]) == ["row 0", "1", "2"]
    assert find_positional_names(["b item 0", "a item 5", "b item 1", "x"]) == ["b item 0", "b item 1"]


def test_a_digest_is_of_the_value() -> None:
    assert digest(None) == ""
    assert digest({"a": {1, 2}}) == digest({"a": {2, 1}}) == digest({"a": [1, 2]})
    assert len(digest("x")) == 24
    assert digest("x") != digest("y")


def test_a_long_name_keeps_its_start() -> None:
    assert bounded_name(f" {'x' * 200} ") == "x" * 200
    long = bounded_name("x" * 201)
    assert long == f"{'x' * 180}… {digest('x' * 201)[:12]}"
    assert bounded_name("x" * 202) != long


def test_a_case_is_identified_by_its_name_or_its_input() -> None:
    assert identify_case("refund", {"q": 1}) == "refund"
    assert identify_case(" refund ", None) == "refund"
    assert identify_case("row 3", None) == "row 3"
    assert identify_case("", None) == ""
    assert identify_case("", {"q": 1}) == digest({"q": 1})
    assert identify_case("row 3", {"q": 1}) == identify_case("case 4", {"q": 1}) == digest({"q": 1})
    assert identify_case("sales row 3", {"q": 1}) == f"sales row {digest({'q': 1})}"


def test_short_texts_and_whole_numbers_may_name_a_group() -> None:
    fields: dict[str, Any] = {
        "a": "x",
        "b": "",
        "c": 0,
        "d": 1.5,
        "e": None,
        "f": ["x"],
        "g": "x" * 200,
        "h": "x" * 201,
    }
    assert select_short_fields(fields) == {"a": "x", "c": 0, "g": "x" * 200}
    assert list(select_short_fields({str(number): number for number in range(30)})) == [str(each) for each in range(20)]


@dataclass
class Pair:
    left: Any
    right: Any


def test_sets_are_sorted_within_all_values() -> None:
    value = Pair({3, 1}, [frozenset({"b", "a"}), ({2, 1},), {"k": {(2, 1), (1, 2)}}])
    assert sort_sets(value) == {"left": [1, 3], "right": [["a", "b"], [[1, 2]], {"k": [[1, 2], [2, 1]]}]}
    kept = object()
    assert [sort_sets(each) for each in (Pair, kept, 1.5, None)] == [Pair, kept, 1.5, None]


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}, lambda value: Pair(value, 0)])
def test_sets_deeper_than_180_levels_are_left_alone(wrap: Any) -> None:
    for levels, is_sorted in ((180, True), (181, False)):
        value: Any = {1}
        for _ in range(levels):
            value = wrap(value)
        found: Any = sort_sets(value)
        while isinstance(found, list | dict):
            if found == [1]:
                break
            found = found[0] if isinstance(found, list) else found["a" if "a" in found else "left"]
        assert found == ([1] if is_sorted else {1})


def make_info(scale: tuple[float, float] | None = None, *, higher: bool = True, **mark: Any) -> EvaluatorInfo:
    return EvaluatorInfo("e", higher_is_better=higher, scale=scale, fingerprint=Fingerprint(**mark) if mark else None)


@pytest.mark.parametrize(
    ("new", "base", "change"),
    [
        (make_info(), make_info(), ""),
        (make_info(source="a"), make_info(source="a"), ""),
        (make_info(higher=False), make_info(), "its direction changed (higher_is_better)"),
        (make_info((0, 5)), make_info((1, 5)), "its scale changed: [1, 5] → [0, 5]"),
        (make_info((0, 5)), make_info(), "its scale changed: [0, 1] → [0, 5]"),
        (make_info(source="a"), make_info(), "its fingerprint is known now, unknown in the baseline"),
        (make_info(), make_info(source="a"), "its fingerprint is known in the baseline, unknown now"),
        (make_info(version="2"), make_info(version="1"), "judge e 1 -> 2"),
        (make_info(version="2", source="a"), make_info(version="1", source="a"), ""),
        (make_info(version="2", prompt="a"), make_info(version="1", prompt="a"), ""),
        (make_info(version="2", prompt="b"), make_info(version="1", prompt="a"), "judge e 1 -> 2"),
        (make_info(version="2"), make_info(source="a"), ""),
        (make_info(model="m"), make_info(model="n"), "its model changed: n → m"),
        (make_info(model="m"), make_info(source="a"), ""),
        (make_info(source="b"), make_info(source="a"), "its code changed"),
        (make_info(prompt="b"), make_info(prompt="a"), "its prompt changed"),
        (make_info(parameters="b"), make_info(parameters="a"), "its parameters changed"),
        (make_info(source="b", prompt="b"), make_info(source="a", prompt="a"), "its code and its prompt changed"),
        (make_info(source="b", prompt="b"), make_info(source="a"), "its code changed"),
        (make_info(source="b"), make_info(source="a", prompt="a"), "its code changed"),
    ],
)
def test_the_change_of_an_evaluator_is_described(new: EvaluatorInfo, base: EvaluatorInfo, change: str) -> None:
    assert describe_fingerprint_change(new, base) == change
