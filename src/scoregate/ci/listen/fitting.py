"""Events within the limits of a record: what is too long is shortened, what cannot be read back left out and told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from scoregate.core.events import CaseOutput, CaseStarted, Errored, ErrorInfo, Event, Scored
from scoregate.core.wire import MAX_EVENT_BYTES, dump, dump_event
from scoregate.errors import NotRecordable

# Of a body with less of either, every event can be kept: a record nests it a few levels deeper, and writes numbers
# longer, by a few times at most.
_FEW_BRACKETS = 150
_SMALL = MAX_EVENT_BYTES // 6
_START_BYTES = 100_000
Free = CaseStarted | CaseOutput | Scored
_FREE = {
    CaseStarted: ("input", "the test case"),
    CaseOutput: ("output", "the output"),
    Scored: ("metadata", "the metadata"),
}
_MORE: dict[type, dict[str, Any]] = {CaseStarted: {}, CaseOutput: {"truncated": True}, Scored: {"assertions": None}}


def fitting(event: Free, raw: bytes) -> Iterator[Event]:
    """The event that was made from the body `raw`, as a record can hold it, with an error where it cannot."""
    if len(raw) < _SMALL and raw.count(b"[") + raw.count(b"{") < _FEW_BRACKETS:
        yield event
        return
    field, what = _FREE[type(event)]
    try:
        size = len(dump_event(event))
    except ValueError as error:
        yield _with(event, {field: None})
        yield _unable(event, NotRecordable(what, error))
    else:
        yield (
            event if size < MAX_EVENT_BYTES else _with(event, {field: _start(event, field, size), **_MORE[type(event)]})
        )


def _with(event: Free, changes: Mapping[str, Any]) -> Event:
    return replace(event, **changes)


def _start(event: Free, field: str, size: int) -> str:
    note = f"… left out: {size:,} bytes are over the limit of {MAX_EVENT_BYTES:,}"
    return dump(getattr(event, field))[:_START_BYTES].decode("utf-8", "ignore") + note


def _unable(event: Free, why: NotRecordable) -> Event:
    evaluator = event.evaluator if isinstance(event, Scored) else None
    return Errored(
        suite=event.suite,
        case=event.case,
        repeat=event.repeat,
        stage="task" if evaluator is None else "evaluator",
        evaluator=evaluator,
        error=ErrorInfo(type(why).__name__, why.message, advice=why.advice),
    )
