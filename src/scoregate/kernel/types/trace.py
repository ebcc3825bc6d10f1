"""Traces: the steps of an agent in one call, as a tree of spans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from typing import Any

from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import truncate_middle

LONGEST_TEXT = 20_000
CALL_ARGUMENTS = "gen_ai.tool.call.arguments"
_LONGEST_VALUE = 4_000


@record
class Span:
    """One step of a trace.

    Attributes:
        name: the name of the step.
        parent_id: the id of the parent; empty for the first step.
        start_ns: the start, in nanoseconds since the epoch.
        end_ns: the end, in nanoseconds since the epoch.
        kind: the kind of span, as a number of OTLP.
        events: events with a `name`, a `time_ns` and `attributes`.
        error: the error message; None without an error.
    """

    span_id: str
    name: str
    parent_id: str = ""
    start_ns: int = 0
    end_ns: int = 0
    kind: int = 1
    attributes: Mapping[str, Any] = field(default_factory=dict)
    events: Sequence[Mapping[str, Any]] = ()
    error: str | None = None

    def plain(self) -> dict[str, Any]:
        """The span as plain data."""
        return {name: getattr(self, name) for name in _FIELDS}


_FIELDS = tuple(each.name for each in fields(Span))


@record
class Trace:
    """The spans of one call, in the order of their start; `trace_id` has 32 hexadecimal digits."""

    trace_id: str
    spans: tuple[Span, ...] = ()

    def plain(self) -> dict[str, Any]:
        """The trace as plain data for the record."""
        return {"trace_id": self.trace_id, "spans": [span.plain() for span in self.spans]}

    def text(self, longest: int = LONGEST_TEXT) -> str:
        """Render the trace for judges: one line per step and attribute, indented below the parent.

        Times and ids are left out, so that the same steps give the same prompt and its answer can be cached.

        Args:
            longest: the maximum length in characters; a longer text is truncated in the middle.
        """
        known = {span.span_id for span in self.spans}
        roots = [span for span in self.spans if span.parent_id not in known]
        return truncate_middle("\n".join(line for root in roots for line in self._lines(root, 0)), longest)

    def _lines(self, span: Span, depth: int) -> Iterator[str]:
        indent = "  " * depth
        failed = f" (failed: {truncate_middle(span.error, _LONGEST_VALUE)})" if span.error is not None else ""
        yield f"{indent}- {truncate_middle(span.name, _LONGEST_VALUE)}{failed}"
        for name, value in span.attributes.items():
            if name == CALL_ARGUMENTS and "input" in span.attributes:
                continue  # `observe` writes both; with one of them, judges are asked what they were asked before
            yield f"{indent}    {name}: {truncate_middle(str(value), _LONGEST_VALUE)}"
        if depth < 50:
            for child in self.spans:
                if child.parent_id == span.span_id:
                    yield from self._lines(child, depth + 1)
