"""Records behave like frozen dataclasses with slots, but for the check at run time."""

from __future__ import annotations

import copy
import pickle
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import pytest

from scoregate.kernel.types.records import make_record, record


@dataclass(frozen=True, slots=True)
class Plain:
    name: str
    count: int = 1
    note: str = field(default="", compare=False)
    hidden: list[int] = field(default_factory=list, compare=False, repr=False)
    table: dict[str, int] = field(default_factory=dict, hash=False, repr=False)


@record
class Point:
    name: str
    count: int = 1
    note: str = field(default="", compare=False)
    hidden: list[int] = field(default_factory=list, compare=False, repr=False)
    table: dict[str, int] = field(default_factory=dict, hash=False, repr=False)


@record
class Longer(Point):
    more: int = 0

    def __repr__(self) -> str:
        return "own"


@record
class Empty:
    pass


def test_records_compare_and_hash_like_dataclasses() -> None:
    for kind in (Plain, Point):
        assert kind("a") == kind("a", note="x", hidden=[1])
        assert hash(kind("a")) == hash(kind("a", note="x"))
        assert kind("a") != kind("b")
        assert kind("a", table={"x": 1}) != kind("a")
        assert hash(kind("a", table={"x": 1})) == hash(kind("a"))
        assert len({kind("a"), kind("a"), kind("a", 2)}) == 2
    assert hash(Plain("a", 2)) == hash(Point("a", 2))
    assert Point("a") != Longer("a")
    assert Point("a") != Plain("a")
    assert Empty() == Empty()
    assert hash(Empty()) == hash(Empty())


def test_records_are_shown_replaced_and_copied_like_dataclasses() -> None:
    point = Point("a", 2, "n", [1])
    assert (
        repr(point) == repr(Plain("a", 2, "n", [1])).replace("Plain", "Point") == "Point(name='a', count=2, note='n')"
    )
    assert repr(Longer("a")) == "own"
    assert replace(point, name="b") == Point("b", 2)
    assert asdict(point) == {"name": "a", "count": 2, "note": "n", "hidden": [1], "table": {}}
    assert pickle.loads(pickle.dumps(point)) == copy.deepcopy(point) == point
    assert not hasattr(point, "__dict__")


@record
class Checked:
    count: int
    double: int = field(default=0, init=False)
    names: list[str] = field(default_factory=lambda: ["a"], init=False)

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ValueError("below 0")
        self.double = 2 * self.count  # type: ignore[misc]


def test_records_take_the_arguments_of_dataclasses() -> None:
    kinds: tuple[Any, ...] = (Plain, Point)
    for kind in kinds:
        assert kind("a").hidden is not kind("a").hidden
        assert kind(name="a", count=2) == kind("a", 2)
        for arguments, message in (
            ((), r"__init__\(\) missing 1 required positional argument: 'name'"),
            (("a", 1, "", [], {}, 0), r"__init__\(\) takes from 2 to 6 positional arguments but 7 were given"),
        ):
            with pytest.raises(TypeError, match=message):
                kind(*arguments)
        with pytest.raises(TypeError, match="unexpected keyword argument 'color'"):
            kind("a", color="red")
    assert Longer("a", more=2).more == 2
    assert (Checked(2).double, Checked(2).names) == (4, ["a"])
    assert Checked(2).names is not Checked(2).names
    with pytest.raises(ValueError, match="below 0"):
        Checked(-1)


def test_the_fields_of_a_record_can_be_arguments_by_name_only() -> None:
    class Named:
        name: str
        count: int = 1

    named: Any = make_record(Named, kw_only=True)
    assert repr(named(name="a")).endswith("Named(name='a', count=1)")
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        named("a")
