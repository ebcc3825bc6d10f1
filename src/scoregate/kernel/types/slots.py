"""Slots: what features add to the records of the kernel, each under a key of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, Generic, TypeVar, cast

from scoregate.errors import RecordError

_T = TypeVar("_T")


class Slot(Generic[_T]):
    """The key of a value that a feature adds. Two slots are never equal.

    Args:
        name: the name of the value, which is the key in `run.json` if it is stored; unique, and no field of the record.
        kind: the type that stored data is read as; None for a value that is never stored.
    """

    __slots__ = ("kind", "name")

    def __init__(self, name: str, kind: Any = None) -> None:
        self.name, self.kind = name, kind


class Slots:
    """Values by slot, which can't be changed. Stored data stays as it was read until its feature asks for it.

    So a run keeps the data of features that this version doesn't know, and damaged data hurts its feature only.
    """

    __slots__ = ("_read", "_stored", "_values")

    def __init__(self, stored: Mapping[str, object] | None = None) -> None:
        self._stored: Mapping[str, object] = stored or {}
        self._values: dict[Slot[Any], object] = {}
        self._read: dict[Slot[Any], object] = {}

    def get(self, slot: Slot[_T]) -> _T | None:
        """The value of a slot; None without one.

        Raises:
            RecordError: stored data is not valid.
        """
        if slot in self._values:
            return cast("_T | None", self._values[slot])
        data = self._stored.get(slot.name) if slot.kind is not None else None
        if data is not None and slot not in self._read:
            self._read[slot] = _read(slot, data)
        return cast("_T | None", self._read.get(slot))

    def put(self, slot: Slot[_T], value: _T | None) -> Slots:
        """The same with a value; None removes it."""
        changed = Slots(self._stored)
        changed._values = {known: each for known, each in self._values.items() if known is not slot}
        if value is not None or (slot.kind is not None and slot.name in self._stored):
            changed._values[slot] = value
        return changed

    def __contains__(self, name: str) -> bool:
        return name in self._stored or any(slot.name == name for slot in self._values)

    def select(self, slots: Collection[Slot[Any]]) -> Slots:
        """Only what is stored for some slots."""
        names = {slot.name for slot in slots}
        return Slots({name: value for name, value in self.to_stored() if name in names})

    def to_stored(self) -> Iterator[tuple[str, object]]:
        """The names and values that are stored, also those that were read and that no feature has asked for."""
        new = {slot.name: value for slot, value in self._values.items() if slot.kind is not None}
        yield from ((name, value) for name, value in {**self._stored, **new}.items() if value is not None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slots) and (self._stored, self._values) == (other._stored, other._values)

    def __hash__(self) -> int:
        return hash(tuple(name for name, _ in self.to_stored()))

    def __repr__(self) -> str:
        return f"Slots({dict(self.to_stored())!r})"


NO_SLOTS = Slots()


def _read(slot: Slot[_T], data: object) -> object:
    from pydantic import ValidationError

    try:
        return _adapter(slot).validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join((slot.name, *map(str, first["loc"])))
        raise RecordError(f"the stored run is damaged: {place[:100]}: {first['msg']}", advice="Run it again.") from None


@cache
def _adapter(slot: Slot[Any]) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(slot.kind)
