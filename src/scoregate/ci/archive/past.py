"""The history of a run as `run.json` has it: what is no such thing is left out, and the run stays readable."""

from __future__ import annotations

from functools import cache
from math import isfinite
from typing import Any

from pydantic import TypeAdapter, ValidationError

from scoregate.core.history import LONGEST, MOST_RUNS, MOST_SERIES, History, Past, Score, Took

_END_OF_TIME = 1e11
_LONGEST_NAMES = 1 << 20


def read_history(data: Any) -> tuple[History, tuple[str, ...]]:
    """The history in a part of `run.json`, None where it has none.

    Returns:
        The history, or an empty one with a notice that says what is wrong.
    """
    if data is None:
        return History(), ()
    try:
        history = _adapter().validate_python(data)
        _check(history)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return History(), (f"its history is left out: {'.'.join(map(str, first['loc']))[:100]}: {first['msg']}",)
    except ValueError as error:
        return History(), (f"its history is left out: {error}",)
    return history, ()


@cache
def _adapter() -> TypeAdapter[History]:
    return TypeAdapter(History)


def _check(history: History) -> None:
    """Raise a ValueError for whatever this scoregate would not have written."""
    number = len(history.runs)
    series = list(history.series())
    _hold(number <= MOST_RUNS, f"it has {number:,} runs")
    _hold(len(series) <= MOST_SERIES + len(history.suites), f"it has {len(series):,} columns")
    names = [*history.suites, *(name for suite in history.suites.values() for name in suite.scores)]
    _hold(sum(map(len, names)) <= _LONGEST_NAMES, "its names are too long")
    _hold(all(len(each) == number for each in series), "its columns are not as long as it has runs")
    _hold(all(map(_is_past, history.runs)), "one of its runs is none")
    _hold(all(map(_is_point, (point for each in series for point in each))), "one of its numbers is none")


def _hold(condition: bool, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)


def _is_past(past: Past) -> bool:
    texts = (past.id, past.commit, past.branch, past.message)
    return (
        0 <= past.finished < _END_OF_TIME
        and all(text is None or len(text) <= LONGEST for text in texts)
        and _is_point(past.took)
    )


def _is_point(point: Took | Score | None) -> bool:
    if point is None:
        return True
    if isinstance(point, Score):
        return 0 <= point.mean <= 1 and point.n > 0 and len(point.made_by) <= LONGEST
    amounts = (point.cost, point.p50_ms)
    return 0 <= (point.pass_rate or 0) <= 1 and all(each is None or (isfinite(each) and each >= 0) for each in amounts)
