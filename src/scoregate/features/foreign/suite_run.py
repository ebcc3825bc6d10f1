"""One run of a foreign SDK's suite: its state while calls arrive, and its cases replayed as events at its end."""

from __future__ import annotations

import re
from asyncio import TimerHandle
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Protocol
from zlib import crc32

import anyio.lowlevel

from scoregate.errors import NotRecordable
from scoregate.features.foreign.bodies import JAVASCRIPT, PYTHON, parse, read_error, read_evaluation, read_review_fields
from scoregate.features.foreign.case_index import NOWHERE, CaseIndex, Places, Spool
from scoregate.kernel.types.event_json import truncate_event
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.events import (
    CaseFinished,
    CaseOutput,
    CaseStarted,
    Errored,
    Event,
    Scored,
    SuiteFinished,
    SuiteStarted,
)
from scoregate.kernel.types.json_io import MAX_EVENT_BYTES, dump, dump_event
from scoregate.kernel.types.runs.cases import CaseKey
from scoregate.kernel.types.runs.suite_labels import suite_label
from scoregate.kernel.types.runs.tally import Tally
from scoregate.kernel.types.text import LONGEST_NAME, case_name, parse_amount

_MOST_ERRORS = 100
_BATCH_EVENTS = 200
_BATCH_BYTES = 1024 * 1024
# The SDKs don't report which of their evaluators held a battle.
BATTLE = "battle"
Body = Mapping[str, Any]


class ListenerCallbacks(Protocol):
    """Receives what the suites of a launched command report while they run."""

    def on_events(self, log: str, events: Sequence[Event]) -> None:
        """Events of one run of a suite; `log` is its own."""

    def on_progress(self, tally: Tally) -> None:
        """The progress of a run of a suite."""

    def on_filtered(self, suite: str) -> None:
        """A suite runs that no filter matches."""

    def on_error(self, error: ErrorInfo) -> None:
        """An error that belongs to no known suite: the command's results are incomplete."""

    def on_notice(self, notice: str) -> None:
        """A notice for the report."""


class ErrorFilter:
    """Passes every error once, up to a limit."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()

    def pass_once(self, error: ErrorInfo) -> ErrorInfo | None:
        """The error itself at its first time; after too many errors, one error about that; else None."""
        key = (error.type, error.message)
        if key in self._seen or len(self._seen) > _MOST_ERRORS:
            return None
        self._seen.add(key)
        if len(self._seen) > _MOST_ERRORS:
            return ErrorInfo("TooMany", f"… and more: only the first {_MOST_ERRORS} are reported")
        return error


@dataclass(slots=True, eq=False)
class SuiteRun:
    """One run of a suite.

    Args:
        id: the SDK's id of it, and the log of its events.
        suite: the suite's id.
        recorded: whether a filter matches it; otherwise nothing is recorded.
        sdk: which SDK it is; None if unknown.
        params: the parameters of a grid search.
        index: where the bodies about its cases are.
        started: the start time, a reading of `perf_counter`.
        duration_s: None until it has ended.
        errors: limits the errors of the suite itself.
        reviews: the names of human reviews that it asked for.
        first_baselines: the cases without a baseline output for a battle.
        timer: when its progress is reported next.
    """

    id: str
    suite: str
    recorded: bool
    sdk: str | None = None
    params: Mapping[str, Any] | None = None
    index: CaseIndex = field(default_factory=CaseIndex)
    started: float = field(default_factory=perf_counter)
    duration_s: float | None = None
    errors: ErrorFilter = field(default_factory=ErrorFilter)
    reviews: set[str] = field(default_factory=set)
    first_baselines: set[str] = field(default_factory=set)
    timer: TimerHandle | None = None

    @property
    def open(self) -> bool:
        """Whether it has not ended."""
        return self.duration_s is None

    def end(self) -> None:
        """Note that it has ended now."""
        self.duration_s = round(perf_counter() - self.started, 4)

    def start_event(self) -> SuiteStarted:
        """The event of its start."""
        return SuiteStarted(suite=self.suite, params=self.params, sdk=self.sdk)

    def tally(self, *, finished: bool = False) -> Tally:
        """Its progress. Its means are over trials: which of them are repeats of a case is known at its end."""
        return Tally(
            self.id,
            suite_label(self.suite, self.params),
            done=len(self.index.rows),
            states=self.index.states,
            means=self.index.means,
            finished=finished,
            duration_s=self.duration_s,
        )


async def replay(run: SuiteRun, spool: Spool, redact: Callable[[bytes], bytes], callbacks: ListenerCallbacks) -> None:
    """Report the cases of a run as events, and if it has ended, its end; then forget its cases.

    Args:
        run: the run.
        spool: holds the bodies of its calls.
        redact: removes secrets, also those that became known after a body was stored.
        callbacks: receive the events.
    """
    for batch in _CaseReplay(run, spool, redact).batches():
        callbacks.on_events(run.id, batch)
        await anyio.lowlevel.checkpoint()  # lets the calls of other suites in
    if not run.open:
        callbacks.on_events(run.id, [SuiteFinished(suite=run.suite, duration_s=run.duration_s)])
    callbacks.on_progress(run.tally(finished=not run.open))
    run.index, run.first_baselines = CaseIndex(), set()


class _CaseReplay:
    """Turns the stored bodies about a run's cases into events."""

    def __init__(self, run: SuiteRun, spool: Spool, redact: Callable[[bytes], bytes]) -> None:
        self._run, self._spool, self._redact = run, spool, redact
        self._bytes = 0

    def batches(self) -> Iterator[list[Event]]:
        """The events of the cases, in the order in which the SDK first named these."""
        batch: list[Event] = []
        for row, key in enumerate(case_keys(self._run.index, self._run.sdk)):
            try:
                batch.extend(self._case_events(key, self._run.index.places(row)))
            except Exception as error:  # the content of one case must not cost the others
                message = f"scoregate failed to read the results of this case: {error!s:.500}"
                batch.append(Errored(**self._ids(key), stage="task", error=ErrorInfo(type(error).__name__, message)))
            unscored = (BATTLE,) if key.hash in self._run.first_baselines else ()
            batch.append(CaseFinished(**self._ids(key), unscored=unscored))
            if len(batch) >= _BATCH_EVENTS or self._bytes >= _BATCH_BYTES:
                yield batch
                batch, self._bytes = [], 0
        if batch:
            yield batch

    def _case_events(self, key: CaseKey, places: Places) -> Iterator[Event]:
        if places.result == NOWHERE:
            yield CaseStarted(**self._ids(key), name=case_name(key.hash, None) or key.hash[:LONGEST_NAME])
        else:
            body, raw = self._read(places.result)
            value = body.get("testCaseBody")
            name = case_name(key.hash, value) or dump(value).decode()[:LONGEST_NAME]
            digest = f"{input_digest(body):08x}"
            item = body.get("datasetItemId")
            started = CaseStarted(
                **self._ids(key),
                name=name,
                input=value,
                digest=digest,
                dataset_item_id=item if isinstance(item, str) else None,
                review_inputs=read_review_fields(body.get("testCaseHumanReviewInputFields")),
            )
            yield from fit_event(started, raw)
            output = CaseOutput(
                **self._ids(key),
                output=self._output(body),
                duration_ms=parse_amount(body.get("testCaseDurationMs")),
                review_outputs=read_review_fields(body.get("testCaseHumanReviewOutputFields")),
            )
            yield from fit_event(output, raw)
        if places.failure != NOWHERE:
            yield self._error_event(key, places.failure, None)
        for evaluator, score, error in places.evaluated:
            if score != NOWHERE:
                yield from self._score_events(key, *self._read(score), evaluator=evaluator)
            if error != NOWHERE:
                yield self._error_event(key, error, evaluator)

    def _output(self, body: Body) -> Any:
        """JavaScript's SDK sends objects as a text of JSON, and texts as they are."""
        output = body.get("testCaseOutput")
        if self._run.sdk != JAVASCRIPT or not isinstance(output, str) or not output.startswith(("{", "[", "null")):
            return output
        try:
            return parse(output.encode())
        except ValueError:
            return output

    def _error_event(self, key: CaseKey, place: int, evaluator: str | None) -> Event:
        """The function under test raised, or an evaluator did."""
        error = read_error(self._read(place)[0].get("error"))
        stage: Any = "task" if evaluator is None else "evaluator"
        return Errored(**self._ids(key), stage=stage, evaluator=evaluator, error=error)

    def _score_events(self, key: CaseKey, body: Body, raw: bytes, *, evaluator: str) -> Iterator[Event]:
        evaluation = read_evaluation(body)
        if isinstance(evaluation, ErrorInfo):
            yield Errored(**self._ids(key), stage="evaluator", evaluator=evaluator, error=evaluation)
            return
        scored = Scored(
            **self._ids(key),
            evaluator=evaluator,
            score=evaluation.score,
            threshold=evaluation.threshold,
            metadata=evaluation.metadata,
            assertions=None if evaluation.assertions is None else tuple(evaluation.assertions),
        )
        yield from fit_event(scored, raw)

    def _read(self, place: int) -> tuple[Body, bytes]:
        """A body parsed, and as it was sent."""
        raw = self._redact(self._spool.read(place))
        self._bytes += len(raw)
        return parse(raw), raw

    def _ids(self, key: CaseKey) -> dict[str, Any]:
        return {"suite": self._run.suite, "case": key.hash, "repeat": key.repeat}


def input_digest(body: Body) -> int:
    """A digest of the input, which distinguishes cases that have the same hash."""
    return crc32(dump(body.get("testCaseBody")))


_NUMBERED = re.compile(r"(.+)-(0|[1-9][0-9]{0,8})", re.DOTALL)


def case_keys(index: CaseIndex, sdk: str | None) -> list[CaseKey]:
    """The key of each row.

    Python's SDK reports repeats of `H` as `H-0` to `H-<n-1>`. They count as repeats if there are at least two and all
    of them, `H` is not a case itself, and all that have a result were given the same input.
    """
    groups: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for case, row in index.rows.items() if sdk == PYTHON else ():
        if (match := _NUMBERED.fullmatch(case)) is not None:
            groups[match[1]][int(match[2])] = row
    repeats: dict[int, CaseKey] = {}
    for case, numbered in groups.items():
        is_complete = len(numbered) > 1 and max(numbered) == len(numbered) - 1
        inputs = {index.digests[row] for row in numbered.values() if index.has_result(row)}
        if is_complete and case not in index.rows and len(inputs) <= 1:
            repeats |= {row: CaseKey(case, number) for number, row in numbered.items()}
    return [repeats.get(row) or CaseKey(case) for case, row in index.rows.items()]


# Every event from a body with fewer brackets and bytes can be recorded: a record nests it a few levels deeper, and
# writes numbers a few times longer at most. This avoids the serialization of each event a second time.
_FEW_BRACKETS = 150
_FEW_BYTES = MAX_EVENT_BYTES // 6
FreeEvent = CaseStarted | CaseOutput | Scored
_FREE_FIELDS = {
    CaseStarted: ("input", "the test case"),
    CaseOutput: ("output", "the output"),
    Scored: ("metadata", "the metadata"),
}


def fit_event(event: FreeEvent, raw: bytes) -> Iterator[Event]:
    """The event made from the body `raw` so that it can be recorded, with an error if it can't."""
    if len(raw) < _FEW_BYTES and raw.count(b"[") + raw.count(b"{") < _FEW_BRACKETS:
        yield event
        return
    name, title = _FREE_FIELDS[type(event)]
    try:
        size = len(dump_event(event))
    except ValueError as error:
        yield replace(event, **{name: None})  # type: ignore[arg-type]
        evaluator = event.evaluator if isinstance(event, Scored) else None
        reason = NotRecordable(title, error)
        yield Errored(
            suite=event.suite,
            case=event.case,
            repeat=event.repeat,
            stage="task" if evaluator is None else "evaluator",
            evaluator=evaluator,
            error=ErrorInfo(type(reason).__name__, reason.message, advice=reason.advice),
        )
    else:
        reason_text = f"{size:,} bytes are over the limit of {MAX_EVENT_BYTES:,}"
        yield event if size < MAX_EVENT_BYTES else truncate_event(event, reason_text)
