"""How a run becomes the past of those that follow it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import isfinite, isnan
from typing import TypeVar

from scoregate.core.case import Status
from scoregate.core.columns import Columns, percentiles
from scoregate.core.history import (
    LONGEST,
    MOST_BYTES,
    MOST_RUNS,
    MOST_SERIES,
    History,
    Past,
    Score,
    SuiteHistory,
    Took,
)
from scoregate.core.parts import EvaluatorInfo
from scoregate.core.record import Run, SuiteResult
from scoregate.core.wire import dump

_DIGITS = 6
_AROUND = 30
_T = TypeVar("_T")


def line_of(run: Run) -> History:
    """What a run that follows this one knows: this one's history, and it at the end.

    An earlier run of the same commit gives way to it; one with uncommitted changes is like no other.
    """
    old = run.history
    kept = [at for at, past in enumerate(old.runs) if not _gives_way(past, run)][1 - MOST_RUNS :]
    now = {suite.label: suite for suite in run.suites if len(suite.columns)}
    suites = {label: _suite(old.of(label), now.get(label), kept) for label in dict.fromkeys((*now, *old.suites))}
    return bounded(History((*(old.runs[at] for at in kept), _past(run)), suites))


def following(run: Run, history: History) -> Run:
    """The run with what it knows of those before it; nothing where none of its suites was in them."""
    known = any(suite.label in history.suites for suite in run.suites)
    return replace(run, history=history if known else History())


def _gives_way(past: Past, run: Run) -> bool:
    same = run.commit is not None and past.commit == run.commit and not past.dirty and not run.dirty
    return same or past.id == run.id


def _past(run: Run) -> Past:
    columns = [suite.columns for suite in run.suites]
    costs = [suite.cost for suite in run.suites if suite.cost is not None]
    return Past(
        id=run.id[:LONGEST],
        finished=run.finished,
        commit=_short(run.commit),
        branch=_short(run.branch),
        message=_short(run.message),
        dirty=run.dirty,
        complete=run.complete,
        took=_took(columns, sum(costs) if costs else None),
    )


def _short(text: str | None) -> str | None:
    return None if text is None else text[:LONGEST]


def _suite(old: SuiteHistory, suite: SuiteResult | None, kept: Sequence[int]) -> SuiteHistory:
    took = None if suite is None else _took([suite.columns], suite.cost)
    scores = {} if suite is None else _scores(suite)
    return SuiteHistory(
        _column(old.took, kept, took),
        {
            name: _column(old.scores.get(name, ()), kept, scores.get(name))
            for name in dict.fromkeys((*scores, *old.scores))
        },
    )


def _column(old: Sequence[_T | None], kept: Sequence[int], new: _T | None) -> tuple[_T | None, ...]:
    return (*(old[at] if old else None for at in kept), new)


def _took(columns: Sequence[Columns], cost: float | None) -> Took:
    passed, failed = (sum(each.count(status) for each in columns) for status in (Status.PASSED, Status.FAILED))
    (p50,) = percentiles((ms for each in columns for ms in each.durations_ms), 0.5)
    return Took(
        _rounded(passed / (passed + failed)) if passed + failed else None,
        _rounded(cost),
        _rounded(p50),
    )


def _scores(suite: SuiteResult) -> Mapping[str, Score]:
    found = {}
    for name, column in suite.columns.scores.items():
        mean = _rounded(suite.mean(name))
        if mean is not None:
            n = sum(1 for score in column if not isnan(score))
            found[name] = Score(mean, n, digest(suite.evaluators.get(name)))
    return found


def digest(info: EvaluatorInfo | None) -> str:
    """What tells whether two means were made by the same evaluator; empty where nothing is known of it."""
    known = info.fingerprint if info is not None else None
    if info is None or known is None:
        return ""
    parts = (info.higher_is_better, known.source, known.prompt, known.parameters, known.model)
    return blake2b(repr(parts).encode("utf-8", "replace"), digest_size=4).hexdigest()


def _rounded(value: float | None) -> float | None:
    """To as many digits as a drawing needs; None of what is no amount."""
    return float(f"{value:.{_DIGITS}g}") if value is not None and isfinite(value) and value >= 0 else None


@dataclass(slots=True)
class _Room:
    """What is left for columns."""

    number: int
    size: int

    def takes(self, name: str, points: Iterable[object]) -> bool:
        if not any(point is not None for point in points):
            return False
        size = len(dump((name, points))) + _AROUND
        if not self.number or size > self.size:
            return False
        self.number -= 1
        self.size -= size
        return True


def bounded(history: History) -> History:
    """As many columns as there is room for: those of the newest run's suites come first."""
    room = _Room(MOST_SERIES, MOST_BYTES - len(dump(history.runs)))
    kept = {
        label: replace(suite, scores={name: each for name, each in suite.scores.items() if room.takes(name, each)})
        for label, suite in history.suites.items()
        if room.takes(label, suite.took)
    }
    return replace(history, suites=kept)
