"""Rows of a dataset from traces: filtered, redacted, merged and sampled, with a count for everything that is left."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scoregate.kernel.types.json_io import to_plain
from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import truncate_middle
from scoregate.store.candidates import Candidate
from scoregate.store.json_lines import encode_row
from scoregate.trace_files.duplicates import SIMILARITY, DuplicateFinder
from scoregate.trace_files.files import read_file
from scoregate.trace_files.filter import Condition
from scoregate.trace_files.traces import RecordedTrace, TraceCollector

INPUT, TRAJECTORY, SOURCE = "input", "trajectory", "source"
OUTPUT = "recorded_output"
_MOST_MERGED = 20
_LONGEST_VALUE, _MOST_VALUES = 4_000, 50


def _keep_text(text: str) -> str:
    return text


def _accept(_: RecordedTrace) -> bool:
    return True


@record
class RowOptions:
    """How traces become rows.

    Attributes:
        condition: whether a trace counts.
        redact: replaces what must not be stored in a text.
        output: the column for the recorded output.
        similarity: as in `DuplicateFinder`.
        sample: the most rows, drawn at random; None for all.
        seed: the same seed draws the same rows.
    """

    condition: Condition = _accept
    redact: Callable[[str], str] = _keep_text
    output: str = OUTPUT
    similarity: float = SIMILARITY
    sample: int | None = None
    seed: str = "0"


@record
class KnownRows:
    """What is a row or a candidate already.

    Attributes:
        inputs: the inputs.
        ids: the ids of candidates. The input of one may have been corrected since.
        traces: the kinds and ids of traces.
    """

    inputs: Sequence[str] = ()
    ids: frozenset[str] = frozenset()
    traces: frozenset[tuple[str, str]] = frozenset()


@dataclass(slots=True)
class CollectedRows:
    """The rows of an export. Every trace is in one of the counts or a row.

    Attributes:
        candidates: the new rows.
        traces: the number of traces.
        without_input: those without an input, such as calls of other services.
        filtered: those that don't fit the condition.
        known: those that the dataset or its candidates have already, or their inputs.
        merged: those that were merged into a new row.
        left_by_sample: the rows that were not drawn.
        repeated: records that other records repeat.
        is_exact: only equal inputs were merged, since rapidfuzz is not installed.
        problems: places in files and what is wrong there.
    """

    candidates: list[Candidate] = field(default_factory=list)
    traces: int = 0
    without_input: int = 0
    filtered: int = 0
    known: int = 0
    merged: int = 0
    left_by_sample: int = 0
    repeated: int = 0
    is_exact: bool = False
    problems: list[tuple[str, str]] = field(default_factory=list)


def collect_rows(files: Iterable[Path], known: KnownRows, options: RowOptions) -> CollectedRows:
    """The rows of the traces in files.

    Args:
        files: the files.
        known: what is a row or a candidate already.
        options: how traces become rows.

    Raises:
        MissingExtra: a file needs a package that is not installed.
    """
    collector, result = TraceCollector(known.traces), CollectedRows()
    for path in files:
        for each in read_file(path):
            collector.add(each)
    merger, conversations = _Merger(known, options.similarity), dict[str, str]()
    # The first of near duplicates stays. Some exports begin with the newest trace.
    for trace in sorted(collector.build(), key=lambda trace: trace.time):
        result.traces += 1
        session = trace.details.session
        conversation = conversations.setdefault(session, trace.trace_id) if session else ""
        if not trace.input.strip():
            result.without_input += 1
        elif not options.condition(trace):
            result.filtered += 1
        else:
            try:
                merger.add(_make_row(trace, options, conversation), (trace.kind, trace.trace_id))
            except ValueError as error:
                result.traces -= 1  # it counts as a problem only
                place = f"{trace.file}:{trace.line}" if trace.line else trace.file
                collector.problems.append((place, f"the trace {trace.trace_id!r:.60}: {error!s:.200}"))
    rows = _draw_sample(merger.rows, merger.known_ids, options)
    result.traces += collector.known
    result.known, result.merged = merger.known + collector.known, merger.merged
    result.is_exact = merger.is_exact
    result.left_by_sample = len(merger.rows) - len(rows)
    now = datetime.now(UTC)
    result.candidates = [Candidate(id=str(row[SOURCE]["id"]), row=row, added_at=now) for row in rows]
    result.repeated, result.problems = collector.repeated, collector.problems
    return result


class _Merger:
    """Merges rows whose inputs are near duplicates.

    Attributes:
        rows: the new rows.
        merged: the number of rows that were merged into one of them.
        known: the number of rows that were known before.
        known_ids: their ids.
    """

    def __init__(self, known: KnownRows, similarity: float) -> None:
        self._finder, self._known = DuplicateFinder(similarity), known
        self._first = len(known.inputs)
        for text in known.inputs:
            self._finder.add(text)
        self.is_exact = self._finder.is_exact and similarity < 1
        self.rows: list[dict[str, Any]] = []
        self.merged = self.known = 0
        self.known_ids: set[str] = set()

    def add(self, row: dict[str, Any], trace: tuple[str, str]) -> None:
        """Add a row, or its source to the row that has its input.

        Args:
            row: the row.
            trace: the kind and id of its trace, before anything in them was replaced.
        """
        duplicate = self._finder.find(row[INPUT])
        is_known = row[SOURCE]["id"] in self._known.ids or trace in self._known.traces
        if is_known or (duplicate is not None and duplicate < self._first):
            self.known += 1
            self.known_ids.add(row[SOURCE]["id"])
        elif duplicate is None:
            self._finder.add(row[INPUT])
            self.rows.append(row)
        else:
            self.merged += 1
            source = self.rows[duplicate - self._first][SOURCE]
            source["merged"] = source.get("merged", 0) + 1
            others = source.setdefault("merged_from", [])
            if len(others) < _MOST_MERGED:
                others.append({name: row[SOURCE][name] for name in ("file", "line", "trace_id", "time")})


def _make_row(trace: RecordedTrace, options: RowOptions, conversation: str) -> dict[str, Any]:
    """The row of a trace.

    Args:
        trace: the trace.
        options: how traces become rows.
        conversation: the id of the first trace of its session, which names it without telling its id; empty without.

    Raises:
        ValueError: it can't be written as JSON.
    """
    plain = {
        INPUT: trace.input,
        options.output: trace.output,
        TRAJECTORY: trace.trajectory.plain(),
        SOURCE: _describe_source(trace, conversation),
    }
    row: dict[str, Any] = _redact(to_plain(plain), options.redact)
    # Of the redacted input, so the digest gives no secret away.
    row[SOURCE]["id"] = hashlib.sha256(row[INPUT].encode("utf-8", "surrogatepass")).hexdigest()[:16]
    encode_row(row)  # raises an error for what could not be stored
    return row


def _describe_source(trace: RecordedTrace, conversation: str) -> dict[str, Any]:
    """Where a row comes from. The names of users, their sessions and metadata are not stored."""
    details = trace.details
    place = {"kind": trace.kind, "file": trace.file, "line": trace.line, "trace_id": trace.trace_id, "time": trace.time}
    known = {
        "name": trace.name,
        "error": trace.error,
        "model": details.model,
        "duration_s": trace.duration_s,
        "tokens": details.tokens,
        "cost": details.cost,
        "tags": list(details.tags[:_MOST_VALUES]),
        "scores": dict(list(details.scores.items())[:_MOST_VALUES]),
        "expected": details.expected,
        "conversation": conversation,
    }
    filled = {name: value for name, value in known.items() if value not in (None, "", [], {})}
    return {name: _shorten(value) for name, value in (place | filled).items()}


def _shorten(value: Any) -> Any:
    """The value; the beginning and the end of its text if it is too long."""
    text = value if isinstance(value, str) else encode_row({"value": to_plain(value)}).decode()
    return value if len(text) <= _LONGEST_VALUE else truncate_middle(text, _LONGEST_VALUE)


def _redact(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(name): _redact(each, redact) for name, each in value.items()}
    return [_redact(each, redact) for each in value] if isinstance(value, list) else value


def _draw_sample(rows: Sequence[dict[str, Any]], known: Iterable[str], options: RowOptions) -> Sequence[dict[str, Any]]:
    """The rows with the smallest digests, in their order: a larger sample with the same seed has those of a smaller.

    Known rows are drawn, too, and add nothing: so the same command adds nothing a second time.
    """
    if options.sample is None:
        return rows

    def rank(row_id: str) -> str:
        return hashlib.sha256(f"{options.seed}\n{row_id}".encode()).hexdigest()

    ids = {*known, *(row[SOURCE]["id"] for row in rows)}
    drawn = set(sorted(ids, key=rank)[: options.sample])
    return [row for row in rows if row[SOURCE]["id"] in drawn]
