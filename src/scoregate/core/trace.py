"""What an agent did, as spans: the steps of one call, in a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from scoregate.core.text import truncate_middle

LONGEST_TEXT = 20_000
_LONGEST_VALUE = 4_000


@dataclass(frozen=True, slots=True)
class Span:
    """One step. `parent_id` is empty for the first; times are nanoseconds since the epoch; `kind` is OTLP's number.

    `events` have a `name`, a `time_ns` and `attributes`; `error` says what went wrong, None where nothing did.
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
        """As plain data."""
        return {name: getattr(self, name) for name in _FIELDS}


_FIELDS = tuple(each.name for each in fields(Span))


@dataclass(frozen=True, slots=True)
class Trace:
    """The spans of one call, in the order in which they began; `trace_id` has 32 hexadecimal digits."""

    trace_id: str
    spans: tuple[Span, ...] = ()

    def plain(self) -> dict[str, Any]:
        """As plain data, for the record."""
        return {"trace_id": self.trace_id, "spans": [span.plain() for span in self.spans]}

    def text(self, longest: int = LONGEST_TEXT) -> str:
        """To be read: a step a line under the one that it belongs to, with what is known of it; cut in the middle.

        Without times and ids, so that what was asked before about the same steps is the same question.
        """
        known = {span.span_id for span in self.spans}
        roots = [span for span in self.spans if span.parent_id not in known]
        return truncate_middle("\n".join(line for root in roots for line in self._lines(root, 0)), longest)

    def _lines(self, span: Span, depth: int) -> Iterator[str]:
        indent = "  " * depth
        failed = f" (failed: {truncate_middle(span.error, _LONGEST_VALUE)})" if span.error is not None else ""
        yield f"{indent}- {truncate_middle(span.name, _LONGEST_VALUE)}{failed}"
        for name, value in span.attributes.items():
            yield f"{indent}    {name}: {truncate_middle(str(value), _LONGEST_VALUE)}"
        if depth < 50:
            for child in self.spans:
                if child.parent_id == span.span_id:
                    yield from self._lines(child, depth + 1)
