"""A trace as the page shows it: its steps in a tree, each with its depth, when it began and how long it took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scoregate.ci.report.html.room import Room

_STEPS = 200
_DEEPEST = 30
_ATTRIBUTES = 30


def steps(trace: Any, room: Room) -> dict[str, Any] | None:
    """The first steps of a recorded trace; None of anything else. Times are milliseconds from its start."""
    spans = trace.get("spans") if isinstance(trace, Mapping) else None
    known = [span for span in spans if isinstance(span, Mapping)] if isinstance(spans, Sequence) else []
    if not known:
        return None
    start = min(_number(span, "start_ns") for span in known)
    shown = [_step(span, depth, start=start, room=room) for span, depth in _tree(known[:_STEPS])]
    return {"steps": shown, "left_out": len(known) - len(shown)}


def _tree(spans: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], int]]:
    """The spans, each under the one that it belongs to; a circle among them is entered nowhere."""
    ids = {str(span.get("span_id")) for span in spans}
    below: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for span in spans:
        parent = str(span.get("parent_id") or "")
        below[parent if parent in ids and parent != span.get("span_id") else ""].append(span)
    waiting = [(span, 0) for span in reversed(below.pop("", []))]
    while waiting:
        span, depth = waiting.pop()
        yield span, min(depth, _DEEPEST)
        waiting.extend((child, depth + 1) for child in reversed(below.pop(str(span.get("span_id")), [])))


def _step(span: Mapping[str, Any], depth: int, *, start: float, room: Room) -> dict[str, Any]:
    began, ended = _number(span, "start_ns"), _number(span, "end_ns")
    attributes = span.get("attributes")
    pairs = list(attributes.items())[:_ATTRIBUTES] if isinstance(attributes, Mapping) else []
    return {
        "depth": depth,
        "name": room.line(str(span.get("name") or "(no name)")),
        "at": (began - start) / 1e6,
        "ms": max(0.0, ended - began) / 1e6,
        "error": None if span.get("error") is None else room.text(str(span["error"])),
        "attributes": [[room.line(str(key)), room.text(value)] for key, value in pairs],
    }


def _number(span: Mapping[str, Any], name: str) -> float:
    value = span.get(name)
    return float(value) if isinstance(value, int | float) else 0.0
