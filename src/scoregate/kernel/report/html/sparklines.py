"""Sparklines: the values of the last runs as a line, and a mark for this run. All share the same run axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from math import floor, log10

from scoregate.kernel.report.rows import RowView
from scoregate.kernel.report.suites import SuiteView
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.case_columns import percentiles
from scoregate.kernel.types.runs.past_runs import SuiteMetrics

_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@record
class Scale:
    """A linear map from [`low`, `high`] to [`start`, `end`] in a drawing; values outside are moved to the edge."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The position of a value."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)

    def holds(self, value: float) -> bool:
        """Whether the value lies inside."""
        return self.low <= value <= self.high


def axis_limit(values: Iterable[float]) -> float:
    """The smallest round number that no absolute value exceeds; values are in [-1, 1]."""
    largest = max((abs(value) for value in values), default=0.0)
    return next((step for step in _STEPS if largest <= step), 1.0)


def log_ticks(low: float, high: float) -> tuple[float, ...]:
    """1, 10, 100, … between two positive numbers; if these are close, 1, 2, 5, 10, …."""
    parts = (1, 2, 5) if high < 50 * low else (1,)
    powers = range(floor(log10(low)), floor(log10(high)) + 1)
    return tuple(at for power in powers for part in parts if low <= (at := part * 10.0**power) <= high)


WIDTH, HEIGHT = 88, 28
_LEFT, _RIGHT, _TOP, _BOTTOM = 3, WIDTH - 6, 6, HEIGHT - 6
_LEAST = 0.1


@record
class Measurement:
    """A value of one run; `made_by` identifies the evaluator that measured it, empty if unknown."""

    value: float
    made_by: str = ""

    def joins(self, other: Measurement) -> bool:
        """Whether a line may connect the two: they have the same evaluator, as far as known."""
        return not self.made_by or not other.made_by or self.made_by == other.made_by


@record
class HoverPoint:
    """A run on the axis: its position, the strip that reacts to the pointer, and the text to show."""

    x: float
    left: float
    width: float
    text: str


@record
class Sparkline:
    """A drawing: the paths `line` and `link` (to the mark of this run), which may be empty, and a description."""

    line: str
    link: str
    mark: tuple[float, float] | None
    points: tuple[HoverPoint, ...]
    description: str


def draw_sparkline(
    past: Sequence[Measurement | None],
    now: Measurement | None,
    *,
    runs: Sequence[str],
    show: Callable[[float], str],
    most: float | None = None,
) -> Sparkline | None:
    """Draw the history of one number; None if no earlier run has it.

    Args:
        past: the value of each earlier run, oldest first; None if it has none.
        now: the value of this run.
        runs: the names of the runs, shown on hover; empty for none.
        show: formats a value.
        most: the largest possible value; None if there is none.
    """
    known = [each for each in past if each is not None]
    if not known:
        return None
    across = Scale(0, len(past), _LEFT, _RIGHT)
    up = _vertical_scale([*known, *([now] if now is not None else [])], most)
    mark = None if now is None else (across(len(past)), up(now.value))
    step, points = across(1) - across(0), []
    for at, (each, run) in enumerate(zip(past, runs, strict=True) if runs else ()):
        if each is not None:
            x = across(at)
            points.append(HoverPoint(x, round(x - step / 2, 2), round(step, 2), f"{show(each.value)} · {run}"))
    link = ""
    if now is not None and known[-1].joins(now):
        last = max(at for at, each in enumerate(past) if each is not None)
        link = f"M{across(last)} {up(known[-1].value)}L{across(len(past))} {up(now.value)}"
    return Sparkline(_line_path(past, across, up), link, mark, tuple(points), _describe_history(known, now, show))


def _vertical_scale(known: Sequence[Measurement], most: float | None) -> Scale:
    """From the lowest to the highest value, with a least range, so that tiny changes don't look like drops."""
    low, high = min(each.value for each in known), max(each.value for each in known)
    least = _LEAST * (most or high) or 1.0
    if high - low < least:
        low, high = (low + high - least) / 2, (low + high + least) / 2
        shift = max(0.0, -low) - max(0.0, high - most if most is not None else 0.0)
        low, high = low + shift, high + shift
    return Scale(low, high, _BOTTOM, _TOP)


def _line_path(past: Sequence[Measurement | None], across: Scale, up: Scale) -> str:
    """The path through the values; a value without neighbours is a dot, a line without length."""
    parts, before = list[str](), None
    for at, each in enumerate(past):
        if each is not None:
            joined = before is not None and before.joins(each)
            place = f"{across(at)} {up(each.value)}"
            parts.append(f"L{place}" if joined else f"M{place}h0")
        before = each
    return "".join(parts)


def _describe_history(known: Sequence[Measurement], now: Measurement | None, show: Callable[[float], str]) -> str:
    """`last 8 runs: 0.810 … 0.840; now 0.790; lowest 0.790, highest 0.852`."""
    values = [each.value for each in known]
    first, last = show(values[0]), show(values[-1])
    summary = (
        f"last {number_format.count(len(values), 'run')}: {first} … {last}" if len(values) > 1 else f"last run: {last}"
    )
    values += [] if now is None else [now.value]
    parts = [summary, *([] if now is None else [f"now {show(now.value)}"])]
    low, high = show(min(values)), show(max(values))
    parts += [f"lowest {low}, highest {high}"] if low != high else []
    apart = sum(not one.joins(other) for one, other in pairwise([*known, *([now] if now is not None else [])]))
    return "; ".join(parts + ([f"the scorer changed {number_format.count(apart, 'time')}"] if apart else []))


# The first rows have hover texts for each run; on all rows these would make up most of the page.
_POINTED = 60
_METRICS: Mapping[str, tuple[Callable[[float], str], float | None]] = {
    "pass_rate": (number_format.percent, 1.0),
    "p50_ms": (lambda ms: number_format.duration(ms / 1000), None),
    "cost": (number_format.cost, None),
}


@record
class Sparklines:
    """The sparklines of rows, None without history, and of suites and the run by metric.

    All are empty if no earlier run is known.
    """

    rows: tuple[Sparkline | None, ...] = ()
    suites: tuple[Mapping[str, Sparkline], ...] = ()
    run: Mapping[str, Sparkline] = field(default_factory=dict)


def draw_sparklines(view: ReportView, rows: Sequence[RowView], suites: Sequence[SuiteView]) -> Sparklines:
    """Draw the sparklines of rows, suites and the run."""
    if not view.history:
        return Sparklines()
    labels = [each.label for each in view.history]
    row_sparklines = []
    for at, row in enumerate(rows):
        past = [None if score is None else Measurement(score.mean, score.made_by) for score in row.past]
        now = None if row.row.mean is None else Measurement(row.row.mean, row.made_by)
        runs = labels if at < _POINTED else ()
        row_sparklines.append(draw_sparkline(past, now, runs=runs, show=number_format.score, most=1.0))
    (p50,) = percentiles((ms for paired_suite in view.paired_suites for ms in paired_suite.now.durations_ms), 0.5)
    return Sparklines(
        tuple(row_sparklines),
        tuple(
            _metric_sparklines(suite.past, _suite_metrics(suite), labels if at < _POINTED else ())
            for at, suite in enumerate(suites)
        ),
        _metric_sparklines(
            [each.past.took for each in view.history],
            SuiteMetrics(view.totals.pass_rate, view.totals.cost, p50),
            labels,
        ),
    )


def _suite_metrics(suite: SuiteView) -> SuiteMetrics:
    return SuiteMetrics(suite.pass_rate, suite.spending.now.cost, suite.spending.now.p50_ms)


def _metric_sparklines(
    past: Sequence[SuiteMetrics | None], now: SuiteMetrics, runs: Sequence[str]
) -> Mapping[str, Sparkline]:
    sparklines = {
        name: draw_sparkline(
            [_measurement(took, name) for took in past],
            _measurement(now, name),
            runs=runs if past else (),
            show=show,
            most=most,
        )
        for name, (show, most) in _METRICS.items()
    }
    return {name: sparkline for name, sparkline in sparklines.items() if sparkline is not None}


def _measurement(took: SuiteMetrics | None, name: str) -> Measurement | None:
    value = None if took is None else getattr(took, name)
    return None if value is None else Measurement(value)
