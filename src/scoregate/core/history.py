"""How a run becomes the past of those that follow it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import isfinite, isnan
from typing import TypeAlias, TypeVar

from scoregate.core.cases import Columns, Status, percentiles
from scoregate.core.events import EvaluatorInfo
from scoregate.core.json_io import dump
from scoregate.core.run import (
    LONGEST,
    MOST_BYTES,
    MOST_RUNS,
    MOST_SERIES,
    History,
    PastRun,
    Run,
    Score,
    SuiteHistory,
    SuiteMetrics,
    SuiteResult,
)

_DIGITS = 6
_SIGNIFICANT = 30
_T = TypeVar("_T")


def history_after(run: Run) -> History:
    """What a run that follows this one knows: this one's history, and it at the end.

    An earlier run of the same commit gives way to it; one with uncommitted changes is like no other.
    """
    old = run.history
    kept = [at for at, past in enumerate(old.runs) if not _is_replaced_by(past, run)][1 - MOST_RUNS :]
    now = {suite.label: suite for suite in run.suites if len(suite.columns)}
    suites = {label: _extend_suite(old.of(label), now.get(label), kept) for label in dict.fromkeys((*now, *old.suites))}
    return fit_history(History((*(old.runs[at] for at in kept), _past_run(run)), suites))


def with_history_of(run: Run, history: History) -> Run:
    """The run with what it knows of those before it; nothing where none of its suites was in them."""
    known = any(suite.label in history.suites for suite in run.suites)
    return replace(run, history=history if known else History())


def _is_replaced_by(past: PastRun, run: Run) -> bool:
    same = run.commit is not None and past.commit == run.commit and not past.dirty and not run.dirty
    return same or past.id == run.id


def _past_run(run: Run) -> PastRun:
    columns = [suite.columns for suite in run.suites]
    costs = [suite.cost for suite in run.suites if suite.cost is not None]
    return PastRun(
        id=run.id[:LONGEST],
        finished=run.finished,
        commit=_shorten(run.commit),
        branch=_shorten(run.branch),
        message=_shorten(run.message),
        dirty=run.dirty,
        complete=run.complete,
        took=_suite_metrics(columns, sum(costs) if costs else None),
    )


def _shorten(text: str | None) -> str | None:
    return None if text is None else text[:LONGEST]


def _extend_suite(old: SuiteHistory, suite: SuiteResult | None, kept: Sequence[int]) -> SuiteHistory:
    took = None if suite is None else _suite_metrics([suite.columns], suite.cost)
    scores = {} if suite is None else _suite_scores(suite)
    return SuiteHistory(
        _extend_column(old.took, kept, took),
        {
            name: _extend_column(old.scores.get(name, ()), kept, scores.get(name))
            for name in dict.fromkeys((*scores, *old.scores))
        },
    )


def _extend_column(old: Sequence[_T | None], kept: Sequence[int], new: _T | None) -> tuple[_T | None, ...]:
    return (*(old[at] if old else None for at in kept), new)


def _suite_metrics(columns: Sequence[Columns], cost: float | None) -> SuiteMetrics:
    passed, failed = (sum(each.count(status) for each in columns) for status in (Status.PASSED, Status.FAILED))
    (p50,) = percentiles((ms for each in columns for ms in each.durations_ms), 0.5)
    return SuiteMetrics(
        _round(passed / (passed + failed)) if passed + failed else None,
        _round(cost),
        _round(p50),
    )


def _suite_scores(suite: SuiteResult) -> Mapping[str, Score]:
    found = {}
    for name, column in suite.columns.scores.items():
        mean = _round(suite.mean(name))
        if mean is not None:
            n = sum(1 for score in column if not isnan(score))
            found[name] = Score(mean, n, evaluator_digest(suite.evaluators.get(name)))
    return found


def evaluator_digest(info: EvaluatorInfo | None) -> str:
    """What tells whether two means were made by the same evaluator; empty where nothing is known of it."""
    known = info.fingerprint if info is not None else None
    if info is None or known is None:
        return ""
    parts = (info.higher_is_better, known.source, known.prompt, known.parameters, known.model)
    return blake2b(repr(parts).encode("utf-8", "replace"), digest_size=4).hexdigest()


def _round(value: float | None) -> float | None:
    """To as many digits as a drawing needs; None of what is no amount."""
    return float(f"{value:.{_DIGITS}g}") if value is not None and isfinite(value) and value >= 0 else None


@dataclass(slots=True)
class _SizeBudget:
    """What is left for columns."""

    number: int
    size: int

    def takes(self, name: str, points: Iterable[object]) -> bool:
        if not any(point is not None for point in points):
            return False
        size = len(dump((name, points))) + _SIGNIFICANT
        if not self.number or size > self.size:
            return False
        self.number -= 1
        self.size -= size
        return True


def fit_history(history: History) -> History:
    """As many columns as there is room for: those of the newest run's suites come first."""
    room = _SizeBudget(MOST_SERIES, MOST_BYTES - len(dump(history.runs)))
    kept = {
        label: replace(suite, scores={name: each for name, each in suite.scores.items() if room.takes(name, each)})
        for label, suite in history.suites.items()
        if room.takes(label, suite.took)
    }
    return replace(history, suites=kept)


# Where the lines have one run: in either of them, at a place in its columns.
_Spots: TypeAlias = Sequence[tuple[History, int]]


def merge_histories(line: History, other: History) -> History:
    """The last runs of both lines, each once, and of one commit's only the last, as `line_of` has it.

    Lines that have no suite in common do not belong together: then `line` alone.
    """
    if not line.suites.keys() & other.suites.keys():
        return line
    places = _find_places((line, other))
    labels = dict.fromkeys(
        label for history, _ in reversed([spots[-1] for spots in places]) for label in history.suites
    )
    runs = tuple(history.runs[at] for history, at in (spots[-1] for spots in places))
    return fit_history(History(runs, {label: _merge_suites(label, places) for label in labels}))


def _find_places(lines: Iterable[History]) -> list[_Spots]:
    every = [(history, at) for history in lines for at in range(len(history.runs))]
    found: dict[tuple[str, bool], _Spots] = {}
    for history, at in sorted(every, key=lambda spot: spot[0].runs[spot[1]].finished):
        past = history.runs[at]
        before = [spot for spot in found.pop(_key(past), ()) if spot[0].runs[spot[1]].id == past.id]
        found[_key(past)] = [*before, (history, at)]
    return list(found.values())[-MOST_RUNS:]


def _key(past: PastRun) -> tuple[str, bool]:
    """What two runs share of which only the later one counts."""
    return (past.id, False) if past.commit is None or past.dirty else (past.commit, True)


def _merge_suites(label: str, places: Sequence[_Spots]) -> SuiteHistory:
    names = dict.fromkeys(name for spots in places for history, _ in spots for name in history.of(label).scores)
    return SuiteHistory(
        tuple(_first_point(_point_at(history.of(label).took, at) for history, at in spots) for spots in places),
        {
            name: tuple(
                _first_point(_point_at(history.of(label).scores.get(name, ()), at) for history, at in spots)
                for spots in places
            )
            for name in names
        },
    )


def _point_at(column: Sequence[_T | None], at: int) -> _T | None:
    return column[at] if column else None


def _first_point(points: Iterable[_T | None]) -> _T | None:
    return next((point for point in points if point is not None), None)
