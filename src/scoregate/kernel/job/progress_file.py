"""The progress file: an observer of a run writes its progress to `.live.json` once a second."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import anyio
import anyio.to_thread

from scoregate.kernel.judge.archive import RUN_FOLDER
from scoregate.kernel.judge.archive.progress import (
    LiveCase,
    LiveCount,
    LiveRun,
    LiveSuite,
    process_start_time,
    remove_live,
    write_live,
)
from scoregate.kernel.report.excerpts import format_score, summarize_reasons
from scoregate.kernel.report.text import display_name, one_line
from scoregate.kernel.run.launch import LaunchEvent
from scoregate.kernel.run.recording import Recording
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.runs.reducer import SuiteReducer
from scoregate.kernel.types.runs.tally import Tally

_EVERY_S = 1.0
_SHARE = 20  # collecting the progress takes at most 1/20 of the time
_SUITES, _EVALUATORS, _REASONS = 200, 20, 3
_FAILING = 10
_NAME, _REASON = 120, 300


@dataclass(slots=True)
class ProgressObserver:
    """An observer that remembers whether anything changed since the last write.

    `failing` are the last trials that failed or have errors.
    """

    recording: Recording | None = None
    changed: bool = False
    failing: deque[LiveCase] = field(default_factory=lambda: deque(maxlen=_FAILING))

    def __call__(self, event: LaunchEvent, recording: Recording) -> None:  # noqa: ARG002
        """Note an event."""
        self.recording, self.changed = recording, True
        for suite, case in recording.finished:
            if case.status in (Status.FAILED, Status.ERRORED):
                self.failing.append(_case(suite, case))


@asynccontextmanager
async def write_progress_file(out: Path, message: str | None) -> AsyncIterator[ProgressObserver]:
    """An observer of a run in `out`; until the block ends, a file there shows its progress.

    If the file can't be written, there is none.
    """
    folder, pid = out / RUN_FOLDER, os.getpid()
    title = message and one_line(message, _REASON)
    first = LiveRun(pid, process_start_time(pid) or 0.0, time.time(), title)
    observer = ProgressObserver()
    is_new = not folder.exists()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        write_live(folder, first)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_update_file, folder, first, observer)
            yield observer
            tasks.cancel_scope.cancel()
    finally:
        remove_live(folder, pid)
        if is_new:
            with suppress(OSError):  # it holds a run
                folder.rmdir()


async def _update_file(folder: Path, first: LiveRun, observer: ProgressObserver) -> None:
    duration_s = 0.0
    while True:
        await anyio.sleep(max(_EVERY_S, _SHARE * duration_s))
        if observer.recording is None or not observer.changed:
            continue
        observer.changed, started = False, time.monotonic()
        live = _current_state(first, observer.recording, tuple(observer.failing))
        duration_s = time.monotonic() - started
        with suppress(OSError):
            await anyio.to_thread.run_sync(write_live, folder, live)


def _current_state(first: LiveRun, recording: Recording, failing: tuple[LiveCase, ...]) -> LiveRun:
    tallies = [tally for _, tally in recording.tallies()]
    counts = [_count(tally) for tally in tallies]
    is_planned = all(each.planned is not None for each in counts)
    total = LiveCount(
        done=sum(each.done for each in counts),
        planned=sum(each.planned or 0 for each in counts) if is_planned else None,
        passed=sum(each.passed for each in counts),
        failed=sum(each.failed for each in counts),
        errors=sum(each.errors for each in counts),
        cost=sum(each.cost for each in counts),
    )
    # If there are too many suites, those that are running come first.
    shown = sorted(tallies, key=lambda tally: tally.finished)[:_SUITES] if len(tallies) > _SUITES else tallies
    return replace(
        first,
        message=first.message or (recording.message and one_line(recording.message, _REASON)),
        stage=recording.stage,
        whole=total,
        suites=tuple(map(_suite, shown)),
        hidden=len(tallies) - len(shown),
        failing=failing,
    )


def _suite(tally: Tally) -> LiveSuite:
    means = {display_name(who): mean for who, mean in islice(tally.means.items(), _EVALUATORS)}
    return LiveSuite(display_name(tally.label, _NAME), _count(tally), means, tally.finished)


def _count(tally: Tally) -> LiveCount:
    passed, failed, errors = (tally.states.get(each, 0) for each in (Status.PASSED, Status.FAILED, Status.ERRORED))
    return LiveCount(tally.done, tally.planned, passed, failed, errors, tally.cost)


def _case(suite: SuiteReducer, case: CaseResult) -> LiveCase:
    reasons: Iterable[str] = (one_line(reason, _REASON) for reason in _reasons(case))
    failed = case.status is Status.FAILED
    return LiveCase(
        display_name(suite.label, _NAME),
        display_name(case.name or case.hash, _NAME),
        failed,
        tuple(islice(reasons, _REASONS)),
    )


def _reasons(case: CaseResult) -> Iterator[str]:
    for name, evaluation in case.evaluations.items():
        if evaluation.passed is False:
            threshold = evaluation.threshold
            score = f"{display_name(name)} {format_score(evaluation.score, threshold)}, needs {threshold}"
            yield ": ".join(filter(None, (score, summarize_reasons(evaluation))))
    for each in case.errors:
        yield f"{each.error.type}: {each.error.message}"
