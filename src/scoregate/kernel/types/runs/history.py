"""The history of runs that a run passes on to the next one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import isfinite
from typing import TypeAlias, TypeVar

from scoregate.kernel.types.amounts import find_known
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.runs.case_columns import Columns, known_values, percentiles
from scoregate.kernel.types.runs.case_means import count_passes
from scoregate.kernel.types.runs.evidence import Use
from scoregate.kernel.types.runs.past_runs import (
    MAX_HISTORY_BYTES,
    MAX_TEXT_LENGTH,
    MOST_RUNS,
    MOST_SERIES,
    History,
    PastRun,
    Score,
    SuiteHistory,
    SuiteMetrics,
)
from scoregate.kernel.types.runs.run import Run, SuiteResult, sum_costs
from scoregate.kernel.types.runs.suite_states import digest_states

_DIGITS = 6
_SIGNIFICANT = 30
_RERUN_S = 3600.0
_T = TypeVar("_T")


def history_after(run: Run) -> History:
    """The history for the next run: the history of this run, and this run at the end.

    This run replaces an earlier run of the same commit that ended within an hour before, unless one of them has
    uncommitted changes. That is a job that was run again; a nightly run of the same commit is a measurement of its own.
    """
    old = run.history
    past_run = PastRun(
        id=run.id[:MAX_TEXT_LENGTH],
        finished=run.end.finished,
        commit=_shorten(run.code.commit),
        branch=_shorten(run.code.branch),
        message=_shorten(run.code.message),
        dirty=run.code.dirty,
        complete=run.end.complete,
        took=_suite_metrics([suite.columns for suite in run.suites], sum_costs(run)),
    )
    kept = [index for index, past in enumerate(old.runs) if not _is_replaced(past, past_run)][1 - MOST_RUNS :]
    measured = {each.label: each for each in run.suites if len(each.columns) and each.evidence.counts_all(Use.HISTORY)}
    states = digest_states(run)
    suites = {}
    for label in dict.fromkeys((*measured, *old.suites)):
        old_suite, suite = old.suite_history(label), measured.get(label)
        took = None if suite is None else _suite_metrics([suite.columns], find_known(suite.cost))
        scores = {} if suite is None else _suite_scores(suite)
        suites[label] = SuiteHistory(
            _extend_column(old_suite.took, kept, took),
            {
                name: _extend_column(old_suite.scores.get(name, ()), kept, scores.get(name))
                for name in dict.fromkeys((*scores, *old_suite.scores))
            },
            _extend_states(old_suite.states, kept, None if suite is None else states.get(suite.script or "")),
        )
    return fit_history(History((*(old.runs[index] for index in kept), past_run), suites))


def with_history_of(run: Run, history: History) -> Run:
    """The run with a history; without it if the history has none of its suites."""
    is_related = any(suite.label in history.suites for suite in run.suites)
    return replace(run, history=history if is_related else History())


def _shorten(text: str | None) -> str | None:
    return None if text is None else text[:MAX_TEXT_LENGTH]


def _extend_column(old: Sequence[_T | None], kept: Sequence[int], new: _T | None) -> tuple[_T | None, ...]:
    return (*(old[index] if old else None for index in kept), new)


def _extend_states(old: Sequence[str | None], kept: Sequence[int], new: str | None) -> tuple[str | None, ...]:
    states = _extend_column(old, kept, new)
    return states if any(states) else ()


def _suite_metrics(columns: Sequence[Columns], cost: float | None) -> SuiteMetrics:
    (p50,) = percentiles((ms for each in columns for ms in each.durations_ms), 0.5)
    return SuiteMetrics(
        _round(count_passes(columns).rate),
        _round(cost),
        _round(p50),
    )


def _suite_scores(suite: SuiteResult) -> Mapping[str, Score]:
    scores = {}
    for name, column in suite.columns.scores.items():
        mean = _round(suite.mean(name))
        if mean is not None:
            n = len(known_values(column))
            scores[name] = Score(mean, n, evaluator_digest(suite.evaluators.get(name)))
    return scores


def evaluator_digest(info: EvaluatorInfo | None) -> str:
    """A digest that changes when an evaluator changes; empty without a fingerprint."""
    if info is None or info.fingerprint is None:
        return ""
    mark = info.fingerprint
    parts = (info.higher_is_better, mark.source, mark.prompt, mark.parameters, mark.model)
    return blake2b(repr(parts).encode("utf-8", "replace"), digest_size=4).hexdigest()


def _round(value: float | None) -> float | None:
    """Round to the digits that a chart needs; None for negative and infinite numbers and NaN."""
    return float(f"{value:.{_DIGITS}g}") if value is not None and isfinite(value) and value >= 0 else None


@dataclass(slots=True)
class _SizeBudget:
    """The number of columns and the bytes that are still free."""

    number: int
    size: int

    def add(self, name: str, points: Iterable[object]) -> bool:
        """Use a part of the budget for a column; False if it is empty or too large."""
        if not any(point is not None for point in points):
            return False
        size = len(dump((name, points))) + _SIGNIFICANT
        if not self.number or size > self.size:
            return False
        self.number -= 1
        self.size -= size
        return True


def fit_history(history: History) -> History:
    """Keep as many columns as the limits of `History` allow; the suites of the newest run come first."""
    budget = _SizeBudget(MOST_SERIES, MAX_HISTORY_BYTES - len(dump(history.runs)))
    suites = {
        label: replace(suite, scores={name: each for name, each in suite.scores.items() if budget.add(name, each)})
        for label, suite in history.suites.items()
        if budget.add(label, (*suite.took, *suite.states))
    }
    return replace(history, suites=suites)


# One run: the histories that contain it, each with its index there.
_Places: TypeAlias = Sequence[tuple[History, int]]


def merge_histories(history: History, other: History) -> History:
    """Merge two histories in chronological order: the last runs of both, each once, and replaced runs as above.

    Histories without a common suite are not related; then the result is the first one.
    """
    if not history.suites.keys() & other.suites.keys():
        return history
    places = [(each, index) for each in (history, other) for index in range(len(each.runs))]
    places_by_id: dict[str, _Places] = {}
    for each, index in sorted(places, key=lambda place: place[0].runs[place[1]].finished):
        past = each.runs[index]
        same_run = places_by_id.pop(past.id, ())
        replaced = [name for name, (*_, (known, at)) in places_by_id.items() if _is_replaced(known.runs[at], past)]
        for name in replaced:
            del places_by_id[name]
        places_by_id[past.id] = [*same_run, (each, index)]
    runs = list(places_by_id.values())[-MOST_RUNS:]
    labels = dict.fromkeys(label for places in reversed(runs) for label in places[-1][0].suites)
    past_runs = tuple(each.runs[index] for each, index in (places[-1] for places in runs))
    return fit_history(History(past_runs, {label: _merge_suites(label, runs) for label in labels}))


def _is_replaced(past: PastRun, later: PastRun) -> bool:
    """Whether a later run replaces an earlier one: it is the same run, or ran the same commit again."""
    is_same = past.commit is not None and past.commit == later.commit and not (past.dirty or later.dirty)
    return past.id == later.id or (is_same and later.finished - past.finished < _RERUN_S)


def _merge_suites(label: str, runs: Sequence[_Places]) -> SuiteHistory:
    names = dict.fromkeys(
        name for places in runs for history, _ in places for name in history.suite_history(label).scores
    )
    states = tuple(
        _first_point((history.suite_history(label).states, index) for history, index in places) for places in runs
    )
    return SuiteHistory(
        tuple(_first_point((history.suite_history(label).took, index) for history, index in places) for places in runs),
        {
            name: tuple(
                _first_point((history.suite_history(label).scores.get(name, ()), index) for history, index in places)
                for places in runs
            )
            for name in names
        },
        states if any(states) else (),
    )


def _first_point(places: Iterable[tuple[Sequence[_T | None], int]]) -> _T | None:
    """The first value at any of the places, each a column and an index."""
    points = (column[index] for column, index in places if column)
    return next((point for point in points if point is not None), None)
