"""What the page draws of the last runs: a sparkline for each evaluator, each suite, and the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from scoregate.ci.report import numbers
from scoregate.ci.report.html.sparkline import Known, Sparkline, sparkline
from scoregate.ci.report.row_views import RowView
from scoregate.ci.report.suite_views import SuiteView
from scoregate.ci.report.view import ReportView
from scoregate.core.columns import percentiles
from scoregate.core.history import Took

# So many rows tell of each run when it is pointed at; a page of more would be made of little else.
_POINTED = 60
_FIGURES: Mapping[str, tuple[Callable[[float], str], float | None]] = {
    "pass_rate": (numbers.percent, 1.0),
    "p50_ms": (lambda ms: numbers.duration(ms / 1000), None),
    "cost": (numbers.cost, None),
}


@dataclass(frozen=True, slots=True)
class Trails:
    """Sparklines by place: of the rows, None where nothing is known; of suites and of the whole by figure.

    All are empty where no earlier run is known.
    """

    rows: tuple[Sparkline | None, ...] = ()
    suites: tuple[Mapping[str, Sparkline], ...] = ()
    whole: Mapping[str, Sparkline] = field(default_factory=dict)


def trails(view: ReportView, rows: Sequence[RowView], suites: Sequence[SuiteView]) -> Trails:
    """The sparklines of these rows and suites."""
    if not view.history:
        return Trails()
    labels = [each.label for each in view.history]
    return Trails(
        tuple(_of_row(row, labels if at < _POINTED else ()) for at, row in enumerate(rows)),
        tuple(_figures(suite.past, _took(suite), labels if at < _POINTED else ()) for at, suite in enumerate(suites)),
        _figures([each.past.took for each in view.history], _whole(view), labels),
    )


def _of_row(view: RowView, runs: Sequence[str]) -> Sparkline | None:
    past = [None if score is None else Known(score.mean, score.made_by) for score in view.past]
    now = None if view.row.mean is None else Known(view.row.mean, view.made_by)
    return sparkline(past, now, runs=runs, show=numbers.score, most=1.0)


def _took(suite: SuiteView) -> Took:
    judged = suite.passed + suite.failed
    return Took(suite.passed / judged if judged else None, suite.spend.cost, suite.spend.p50_ms)


def _whole(view: ReportView) -> Took:
    (p50,) = percentiles((ms for sides in view.sides for ms in sides.now.durations_ms), 0.5)
    return Took(view.totals.pass_rate, view.totals.cost, p50)


def _figures(past: Sequence[Took | None], now: Took, runs: Sequence[str]) -> Mapping[str, Sparkline]:
    found = {
        name: sparkline(
            [_known(took, name) for took in past], _known(now, name), runs=runs if past else (), show=show, most=most
        )
        for name, (show, most) in _FIGURES.items()
    }
    return {name: drawn for name, drawn in found.items() if drawn is not None}


def _known(took: Took | None, name: str) -> Known | None:
    value = None if took is None else getattr(took, name)
    return None if value is None else Known(value)
