"""What features add: slots in records of the kernel, and sections in reports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, Generic, TypeAlias, TypeVar, cast

from scoregate.errors import RecordError
from scoregate.kernel.types.records import record

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


PrintLines: TypeAlias = Callable[[Any, bool, str], Iterable[Any]]
"""Prints a section in the terminal, from the view of the report, whether all is printed, and where the rest is."""


class Place(StrEnum):
    """Where a section is in a report, in the order of the comment. `PRINTED_AT` says what is printed where."""

    VERDICT = "verdict"  # the first notices
    GATES = "gates"  # after the gates that do not hold
    BASELINE = "baseline"  # among the notices about the baseline
    ROWS = "rows"  # after the table of scores
    RANKINGS = "rankings"  # after what concerns whole suites
    PARTS = "parts"  # after the rankings: parts of suites
    CASES = "cases"  # after the failing cases
    COSTS = "costs"  # after latency, tokens and cost
    END = "end"  # the last notices


# The places at which reports print each part of a section.
PRINTED_AT: Mapping[str, tuple[Place, ...]] = {
    "sentences": (Place.VERDICT, Place.BASELINE, Place.ROWS, Place.PARTS, Place.COSTS, Place.END),
    "comment": (Place.GATES, Place.ROWS, Place.RANKINGS, Place.PARTS, Place.CASES, Place.COSTS),
    "page": (Place.GATES, Place.ROWS, Place.RANKINGS, Place.PARTS, Place.COSTS),
    "terminal": (Place.GATES, Place.ROWS, Place.RANKINGS, Place.PARTS, Place.CASES, Place.COSTS),
}


@record
class UnwatchedDrop:
    """A suite or a part of it that is worse, and that no gate fails for.

    Attributes:
        name: the suite, or `language=fr of support-bot`.
        is_warned: whether a gate with the severity `warn` reports it.
    """

    name: str
    is_warned: bool = False


@record
class CaseNote:
    """A case that is reported to test runners besides the cases of the run.

    Attributes:
        suite: the label of its suite.
        name: its name.
        skipped: why it counts as skipped; empty if it passed.
        output: what happened.
        properties: further facts by name.
    """

    suite: str
    name: str
    skipped: str = ""
    output: str = ""
    properties: tuple[tuple[str, str], ...] = ()


@record
class Section:
    """What one feature says in a report.

    Attributes:
        feature: the name of the feature.
        place: where it is.
        title: its link in the HTML page; empty if it has no part there.
        anchor: the id that the link leads to.
        summary: ends the title of the report: `2 cases in quarantine`.
        sentences: notices.
        content: what its templates print.
        comment: the template of its part of the comment; empty without one.
        page: the template of its part of the HTML page; empty without one.
        terminal: prints its part in the terminal.
        brief: prints what the terminal shows even of a run that failed, with little else.
        cases: cases for JUnit.
        worse: what is worse although no gate watches it.
        data: its keys in `result.json`.
        wants_comment: whether it is a reason for a comment.
    """

    feature: str
    place: Place
    title: str = ""
    anchor: str = ""
    summary: str = ""
    sentences: tuple[str, ...] = ()
    content: Any = None
    comment: str = ""
    page: str = ""
    terminal: PrintLines | None = None
    brief: PrintLines | None = None
    cases: tuple[CaseNote, ...] = ()
    worse: tuple[UnwatchedDrop, ...] = ()
    data: Mapping[str, object] | None = None
    wants_comment: bool = False


def check_parts(section: Section) -> Section:
    """Return a section of which each part is printed.

    Raises:
        ValueError: no report prints one of its parts at its place.
    """
    for part, places in PRINTED_AT.items():
        if getattr(section, part) and section.place not in places:
            raise ValueError(
                f"the section of {section.feature} has `{part}`, which no report prints at {section.place}; choose one "
                f"of {', '.join(places)}"
            )
    return section


def select_sections(sections: Sequence[Section], *places: Place) -> Iterator[Section]:
    """The sections of these places, each in the order of the features."""
    for place in places:
        yield from (section for section in sections if section.place == place)  # templates name places by their values


def list_sentences(sections: Sequence[Section], place: Place) -> Iterator[str]:
    """The sentences of all sections of a place."""
    for section in select_sections(sections, place):
        yield from section.sentences
