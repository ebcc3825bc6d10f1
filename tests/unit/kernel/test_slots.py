"""Slots: values of features in the records of the kernel, stored or not."""

from __future__ import annotations

import pytest

from scoregate.errors import RecordError
from scoregate.kernel.types.records import record
from scoregate.kernel.types.slots import NO_SLOTS, Slot, Slots


@record
class Counted:
    case: str
    runs: int = 0


STORED: Slot[tuple[Counted, ...]] = Slot("counted", tuple[Counted, ...])
LIVE: Slot[object] = Slot("live")


def test_a_value_is_found_by_its_slot_alone() -> None:
    slots = NO_SLOTS.put(LIVE, 1).put(STORED, (Counted("a", 2),))
    assert (slots.get(LIVE), slots.get(STORED), slots.get(Slot("live"))) == (1, (Counted("a", 2),), None)
    assert NO_SLOTS.get(LIVE) is None
    assert dict(slots.to_stored()) == {"counted": (Counted("a", 2),)}
    assert dict(slots.put(STORED, None).to_stored()) == {}


def test_stored_data_is_read_when_a_feature_asks_for_it() -> None:
    slots = Slots({"counted": [{"case": "a", "runs": 3}], "of_a_newer_version": {"x": 1}})
    assert slots.get(STORED) == (Counted("a", 3),)
    assert dict(slots.put(STORED, ()).to_stored()) == {"counted": (), "of_a_newer_version": {"x": 1}}
    assert slots.put(STORED, None).get(STORED) is None
    assert Slots({"live": 1}).get(LIVE) is None


def test_stored_data_is_read_once() -> None:
    slots = Slots({"counted": [{"case": "a", "runs": 3}]})
    assert slots.get(STORED) is slots.get(STORED)


def test_only_what_is_stored_for_some_slots_is_selected() -> None:
    slots = Slots({"counted": [{"case": "a"}], "other": 1}).put(LIVE, 1)
    assert dict(slots.select([STORED, LIVE]).to_stored()) == {"counted": [{"case": "a"}]}


def test_damaged_data_names_its_place_and_hurts_its_feature_only() -> None:
    slots = Slots({"counted": [{"case": "a", "runs": "many"}]})
    assert slots.get(LIVE) is None
    with pytest.raises(RecordError, match=r"the stored run is damaged: counted\.0\.runs: "):
        slots.get(STORED)


def test_slots_are_equal_if_their_values_are() -> None:
    assert NO_SLOTS.put(LIVE, 1) == NO_SLOTS.put(LIVE, 1)
    assert NO_SLOTS.put(LIVE, 1) != NO_SLOTS.put(LIVE, 2)
    assert Slots({"a": 1}) != Slots({"a": 2})
    assert hash(Slots({"a": 1})) == hash(Slots({"a": 1}))
