"""Records behave like frozen dataclasses with slots, but for the check at run time."""

from __future__ import annotations

import copy
import pickle
from dataclasses import asdict, dataclass, field, replace

from scoregate.core.records import record


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
