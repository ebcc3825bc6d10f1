"""Tells, in a file beside the run that is being made, how far it is: an observer that writes it once a second."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import anyio
import anyio.to_thread

from scoregate.ci.archive import RUN_FOLDER
from scoregate.ci.archive.live import Live, LiveCase, LiveCount, LiveSuite, born, drop_live, write_live
from scoregate.ci.launch import Happening
from scoregate.ci.recording import Recording
from scoregate.ci.report.excerpts import shown_score, why
from scoregate.ci.report.text import name, one_line
from scoregate.core.case import CaseResult, Status
from scoregate.core.fold import SuiteFold
from scoregate.core.tally import Tally

_EVERY_S = 1.0
_SHARE = 20  # of our time at most one part in so many goes into looking
_SUITES, _EVALUATORS, _REASONS = 200, 20, 3
_FAILING = 10
_NAME, _REASON = 120, 300


@dataclass(slots=True)
class Following:
    """An observer: remembers what there is to tell since it was last told.

    `failing` are the last trials that failed or errored.
    """

    recording: Recording | None = None
    changed: bool = False
    failing: deque[LiveCase] = field(default_factory=lambda: deque(maxlen=_FAILING))

    def __call__(self, happening: Happening, recording: Recording) -> None:  # noqa: ARG002
        """Something happened."""
        self.recording, self.changed = recording, True
        for suite, case in recording.finished:
            if case.status in (Status.FAILED, Status.ERRORED):
                self.failing.append(_case(suite, case))


@asynccontextmanager
async def told_live(out: Path, message: str | None) -> AsyncIterator[Following]:
    """An observer of a run that is made in `out`; as long as the block lasts, a file there says how far it is.

    Where the file cannot be written, nothing is told.
    """
    folder = out / RUN_FOLDER
    following, first = Following(), _nothing_yet(message)
    made = not folder.exists()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        write_live(folder, first)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_keep_telling, folder, first, following)
            yield following
            tasks.cancel_scope.cancel()
    finally:
        drop_live(folder, first.pid)
        if made:
            with suppress(OSError):  # it holds a run
                folder.rmdir()


def _nothing_yet(message: str | None) -> Live:
    pid = os.getpid()
    return Live(pid, born(pid) or 0.0, time.time(), message and one_line(message, _REASON))


async def _keep_telling(folder: Path, first: Live, following: Following) -> None:
    took = 0.0
    while True:
        await anyio.sleep(max(_EVERY_S, _SHARE * took))
        if following.recording is None or not following.changed:
            continue
        following.changed, started = False, time.monotonic()
        live = _live(first, following.recording, tuple(following.failing))
        took = time.monotonic() - started
        with suppress(OSError):
            await anyio.to_thread.run_sync(write_live, folder, live)


def _live(first: Live, recording: Recording, failing: tuple[LiveCase, ...]) -> Live:
    tallies = [tally for _, tally in recording.tallies()]
    # Those that run are what people look for, where not all can be told.
    shown = sorted(tallies, key=lambda tally: tally.finished)[:_SUITES] if len(tallies) > _SUITES else tallies
    return replace(
        first,
        message=first.message or (recording.message and one_line(recording.message, _REASON)),
        stage=recording.writer.folder.name,
        whole=_whole(tallies),
        suites=tuple(map(_suite, shown)),
        hidden=len(tallies) - len(shown),
        failing=failing,
    )


def _suite(tally: Tally) -> LiveSuite:
    means = {name(who): mean for who, mean in islice(tally.means.items(), _EVALUATORS)}
    return LiveSuite(name(tally.label, _NAME), _count(tally), means, tally.finished)


def _count(tally: Tally) -> LiveCount:
    passed, failed, errors = (tally.states.get(each, 0) for each in (Status.PASSED, Status.FAILED, Status.ERRORED))
    return LiveCount(tally.done, tally.planned, passed, failed, errors, tally.cost)


def _whole(tallies: Sequence[Tally]) -> LiveCount:
    counts = [_count(tally) for tally in tallies]
    return LiveCount(
        done=sum(each.done for each in counts),
        planned=sum(each.planned or 0 for each in counts) if all(each.planned is not None for each in counts) else None,
        passed=sum(each.passed for each in counts),
        failed=sum(each.failed for each in counts),
        errors=sum(each.errors for each in counts),
        cost=sum(each.cost for each in counts),
    )


def _case(suite: SuiteFold, case: CaseResult) -> LiveCase:
    told: Iterable[str] = (one_line(reason, _REASON) for reason in _reasons(case))
    failed = case.status is Status.FAILED
    return LiveCase(
        name(suite.label, _NAME), name(case.name or case.hash, _NAME), failed, tuple(islice(told, _REASONS))
    )


def _reasons(case: CaseResult) -> Iterator[str]:
    for who, found in case.evaluations.items():
        if found.passed is False:
            score = f"{name(who)} {shown_score(found.score, found.threshold)}, needs {found.threshold}"
            yield ": ".join(filter(None, (score, why(found))))
    for each in case.errors:
        yield f"{each.error.type}: {each.error.message}"
