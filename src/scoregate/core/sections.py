"""Sections: what features add to reports, as data that every report can print."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from scoregate.core.records import record
from scoregate.core.slots import Slot, Slots


class Place(StrEnum):
    """Where a section is in a report."""

    BASELINE = "baseline"  # among the notices about the baseline


@record
class Section:
    """What one feature says in a report.

    Attributes:
        feature: the name of the feature.
        place: where it is.
        sentences: notices.
    """

    feature: str
    place: Place
    sentences: tuple[str, ...] = ()


SECTIONS: Slot[tuple[Section, ...]] = Slot("sections")


def add_section(slots: Slots, section: Section) -> Slots:
    """The slots with one more section."""
    return slots.put(SECTIONS, (*(slots.get(SECTIONS) or ()), section))


def list_sentences(slots: Slots, place: Place) -> Iterator[str]:
    """The sentences of all sections of a place, in the order of the features."""
    for section in slots.get(SECTIONS) or ():
        yield from section.sentences if section.place is place else ()
