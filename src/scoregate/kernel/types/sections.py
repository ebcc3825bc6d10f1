"""Sections: what features add to reports. A report prints them at its places, and knows none of their words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeAlias

from scoregate.kernel.types.records import record

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
