"""Traces: the parts of exports, put together by trace, with one input, one output and the steps between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import UTC, datetime
from typing import Any

from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import truncate_middle
from scoregate.kernel.types.trajectories.otlp import OtlpSpan
from scoregate.kernel.types.trajectories.spans import read_spans
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.kernel.types.trajectory_steps import Message
from scoregate.trace_files import otlp
from scoregate.trace_files.files import FileRecord
from scoregate.trace_files.formats import FORMATS, find_format
from scoregate.trace_files.parts import Details, TracePart, UnknownRecord
from scoregate.trace_files.values import LONGEST_TEXT, describe_turns, read_input, read_output

MOST_PARTS = 5_000
_NS = 10**9
_SERVER, _CONSUMER = 2, 5
# What fields of other types than any tool writes can raise.
_WRONG_TYPES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@record
class RecordedTrace:
    """What a system did for one input.

    Attributes:
        kind: the format of its export.
        trace_id: its id there.
        file: the file that names it first.
        line: the line there; 0 if the file has none.
        time: when it began, in ISO 8601 and UTC; empty if unknown.
        name: its name.
        input: what the user wrote, as text.
        output: the answer, as text.
        error: the error of the trace itself; empty without one.
        trajectory: the messages and tool calls.
        duration_s: how long it took, in seconds; None if unknown.
        details: what its parts add up to.
    """

    kind: str
    trace_id: str
    file: str
    line: int
    time: str
    name: str
    input: str
    output: str
    error: str
    trajectory: Trajectory = field(repr=False)
    duration_s: float | None = None
    details: Details = field(default_factory=Details, repr=False)


class TraceCollector:
    """Puts parts together by trace.

    Attributes:
        problems: places and what is wrong there, such as ("a.jsonl:3", "is not JSON").
        repeated: the number of parts that were in another record already.
        known: the number of known traces of which the files have only later parts.

    Args:
        known: the kinds and ids of traces that are rows or candidates already.
    """

    def __init__(self, known: frozenset[tuple[str, str]] = frozenset()) -> None:
        self.problems: list[tuple[str, str]] = []
        self.repeated = self.known = 0
        self._known = known
        self._traces: dict[tuple[str, str], _TraceParts] = {}

    def add(self, file_record: FileRecord) -> None:
        """Add a record of a file."""
        place = f"{file_record.file}:{file_record.line}" if file_record.line else file_record.file
        if file_record.problem or file_record.value is None:
            self.problems.append((place, file_record.problem))
            return
        try:
            kind, parts = _read_parts(file_record.value)
            for part in parts:
                gathered = self._traces.setdefault(
                    (kind, part.trace_id), _TraceParts(file_record.file, file_record.line)
                )
                self.repeated += not gathered.add(part)
        except UnknownRecord as error:
            self.problems.append((place, str(error)))
        except RecursionError:
            self.problems.append((place, "it is nested too deeply"))
        except _WRONG_TYPES as error:
            self.problems.append((place, f"its fields have unknown types: {type(error).__name__}: {error!s:.200}"))

    def build(self) -> Iterator[RecordedTrace]:
        """The traces, in the order in which their first parts were read."""
        for (kind, trace_id), gathered in self._traces.items():
            try:
                yield gathered.build(kind, trace_id)
            except (*_WRONG_TYPES, RecursionError) as error:
                if isinstance(error, _IncompleteTrace) and (kind, trace_id) in self._known:
                    self.known += 1
                    continue
                place = f"{gathered.file}:{gathered.line}" if gathered.line else gathered.file
                self.problems.append((place, f"the trace {trace_id!r:.60} can't be read: {error!s:.200}"))


def _read_parts(value: Mapping[str, Any] | OtlpSpan) -> tuple[str, Iterable[TracePart]]:
    if isinstance(value, OtlpSpan):
        return otlp.NAME, [otlp.read_span(value)]
    format_ = find_format(value)
    if format_ is None:
        known = ", ".join(each.name for each in FORMATS)
        fields = f"its fields are {', '.join(map(str, value)):.200}" if value else "it has no fields"
        raise UnknownRecord(f"it is not a record of {known}; {fields}")
    return format_.name, list(format_.read(value))  # a list, so that an error in a record keeps all of its parts out


class _IncompleteTrace(ValueError):
    """The files have only later parts of a trace."""


class _TraceParts:
    """The parts of one trace, and the place of the first one."""

    def __init__(self, file: str, line: int) -> None:
        self.file, self.line = file, line
        self._parts: dict[str, TracePart] = {}
        self._left_out = 0
        self._is_begun = False

    def add(self, part: TracePart) -> bool:
        """Add a part; return whether it is new."""
        if part.span.span_id in self._parts:
            return False
        # The first part has the input, so it counts wherever it comes.
        is_first = not self._is_begun and _begins(part)
        self._is_begun = self._is_begun or is_first
        if len(self._parts) < MOST_PARTS or is_first:
            self._parts[part.span.span_id] = part
        else:
            self._left_out += 1
        return True

    def build(self, kind: str, trace_id: str) -> RecordedTrace:
        """Build the trace.

        Raises:
            _IncompleteTrace: no part begins it.
        """
        if not self._is_begun:
            raise _IncompleteTrace("its first span or run is missing: give all files of the trace at once")
        ordered = sorted(self._parts.values(), key=lambda part: part.span.start_ns)
        roots = _find_roots(ordered)
        steps = read_spans(part.span for part in ordered)
        trajectory = Trajectory(tuple(steps), left_out=self._left_out)
        given = next((part.input for part in roots if part.input is not None), None)
        result = next((part.output for part in roots if part.output is not None), None)
        first = next(
            (n for n, each in enumerate(steps) if isinstance(each, Message) and each.role == "assistant"), None
        )
        root = roots[0].span
        ends = max((part.span.end_ns for part in ordered), default=0)
        return RecordedTrace(
            kind,
            trace_id,
            self.file,
            self.line,
            _format_time(root.start_ns),
            root.name,
            truncate_middle(read_input(given) or describe_turns(steps[:first]), LONGEST_TEXT),
            truncate_middle(read_output(result) or str(trajectory.final_output), LONGEST_TEXT),
            next((part.span.error for part in roots if part.span.error is not None), None) or "",
            trajectory,
            max(0, ends - root.start_ns) / _NS if root.start_ns and ends else None,
            _add_up(ordered, roots),
        )


def _begins(part: TracePart) -> bool:
    """Whether a trace can begin with a part. The caller of a server or a consumer may be no part of an export."""
    return part.is_root or not part.span.parent_id or part.span.kind in (_SERVER, _CONSUMER)


def _find_roots(parts: list[TracePart]) -> list[TracePart]:
    """The trace itself, then the steps without a parent, then the others, each in the order of their start."""
    known = {part.span.span_id for part in parts}

    def rank(part: TracePart) -> int:
        return 0 if part.is_root else 1 if part.span.parent_id not in known else 2

    top = min(map(rank, parts))
    # Several spans without a parent may be in one trace. The first one has the input.
    return [part for part in sorted(parts, key=rank) if rank(part) == top or (top == 0 and rank(part) == 1)]


def _add_up(parts: list[TracePart], roots: list[TracePart]) -> Details:
    """The details of a trace: amounts are summed up, other values come from the outermost part that has them."""
    details = [part.details for part in (*roots, *parts)]
    tokens = [part.details.tokens for part in parts if part.details.tokens is not None]
    costs = [part.details.cost for part in parts if part.details.cost is not None]
    return Details(
        user=next((each.user for each in details if each.user), ""),
        session=next((each.session for each in details if each.session), ""),
        model=next((each.model for each in details if each.model), ""),
        tokens=sum(tokens) if tokens else None,
        cost=sum(costs) if costs else None,
        expected=next((part.details.expected for part in roots if part.details.expected is not None), None),
        tags=tuple(dict.fromkeys(tag for each in details for tag in each.tags)),
        # Reversed, so that the outermost part wins.
        scores={name: value for each in reversed(details) for name, value in each.scores.items()},
        metadata=next((part.details.metadata for part in roots if part.details.metadata), {}),
    )


def _format_time(time_ns: int) -> str:
    try:
        return datetime.fromtimestamp(time_ns / _NS, UTC).isoformat() if time_ns else ""
    except (OverflowError, OSError, ValueError):
        return ""
