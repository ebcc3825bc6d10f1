"""Spans of a program that runs several cases: which case each belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import is_whole_number

if TYPE_CHECKING:
    from scoregate.kernel.types.trajectories.otlp import OtlpSpan

SUITE, CASE, REPEAT = "scoregate.suite", "scoregate.case", "scoregate.repeat"


class CaseName(NamedTuple):
    """The case that a span names; the suite is empty if only the case is named."""

    suite: str
    case: str
    repeat: int


@record
class CaseTrace:
    """The trajectory of a case as it is recorded; the suite is empty if only the case is named."""

    suite: str
    case: str
    repeat: int
    trace: Any = field(repr=False)


class SpanLink(NamedTuple):
    """What assigns a span to a case.

    Attributes:
        span_id: the id of the span.
        parent_id: the id of its parent; empty without one.
        own: the case that the span names; None without one.
        process: the case that its process (resource) names; None without one.
    """

    span_id: str
    parent_id: str
    own: CaseName | None
    process: CaseName | None


def read_link(span: OtlpSpan) -> SpanLink:
    """What assigns a span to a case: `scoregate.case`, `scoregate.suite`, `scoregate.repeat` and its parent."""
    own, process = _read_name(span.span.attributes), _read_name(span.resource)
    return SpanLink(span.span.span_id, span.span.parent_id, own, process)


def name_cases(trace: Sequence[SpanLink]) -> list[CaseName | None]:
    """The case of each span of a trace; None for a span that belongs to none.

    A span belongs to the case that it names itself; otherwise its nearest ancestor, its process, or the only case that
    its trace names.

    Args:
        trace: the spans of one trace, in any order.
    """
    links = {each.span_id: each for each in trace}
    known: dict[str, CaseName | None] = {}

    def find(span_id: str) -> CaseName | None:
        path: dict[str, None] = {}
        current, name = span_id, None
        # A span may name itself as an ancestor.
        while current in links and current not in known and current not in path:
            path[current] = None
            name = links[current].own
            if name is not None:
                break
            current = links[current].parent_id
        name = name or known.get(current)
        known.update(dict.fromkeys(path, name))
        return name

    named = [find(each.span_id) or each.process for each in trace]
    names = {name for name in named if name is not None}
    only = next(iter(names)) if len(names) == 1 else None
    return [name or only for name in named]


def _read_name(attributes: Mapping[str, Any]) -> CaseName | None:
    suite, case, repeat = attributes.get(SUITE, ""), attributes.get(CASE), attributes.get(REPEAT, 0)
    if isinstance(repeat, str) and repeat.isdecimal() and len(repeat) < 10:
        repeat = int(repeat)  # baggage has texts only
    if not isinstance(case, str) or not case or not isinstance(suite, str) or not is_whole_number(repeat, 0):
        return None
    return CaseName(suite, case, repeat)
