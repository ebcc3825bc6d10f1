"""Events within the limits of a record: what is too long is shortened, what cannot be read back left out and told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from scoregate.core.events import CaseOutput, CaseStarted, Errored, ErrorInfo, Event, Scored
from scoregate.core.shortening import shortened
from scoregate.core.wire import MAX_EVENT_BYTES, dump_event
from scoregate.errors import NotRecordable

# Of a body with less of either, every event can be kept: a record nests it a few levels deeper, and writes numbers
# longer, by a few times at most.
_FEW_BRACKETS = 150
_SMALL = MAX_EVENT_BYTES // 6
Free = CaseStarted | CaseOutput | Scored
_FREE = {
    CaseStarted: ("input", "the test case"),
    CaseOutput: ("output", "the output"),
    Scored: ("metadata", "the metadata"),
}


def fitting(event: Free, raw: bytes) -> Iterator[Event]:
    """The event that was made from the body `raw`, as a record can hold it, with an error where it cannot."""
    if len(raw) < _SMALL and raw.count(b"[") + raw.count(b"{") < _FEW_BRACKETS:
        yield event
        return
    field, what = _FREE[type(event)]
    try:
        size = len(dump_event(event))
    except ValueError as error:
        yield replace(event, **{field: None})  # type: ignore[arg-type]
        yield _unable(event, NotRecordable(what, error))
    else:
        why = f"{size:,} bytes are over the limit of {MAX_EVENT_BYTES:,}"
        yield event if size < MAX_EVENT_BYTES else shortened(event, why)


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
