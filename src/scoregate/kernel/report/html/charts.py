"""The charts of the page: changes with intervals and limits, scores case by case, latencies."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice, pairwise
from math import log10, sqrt
from statistics import median
from typing import TypeAlias

from scoregate.kernel.gate.finding import Finding
from scoregate.kernel.report.html.case_list import ScoreColumn, pair_rows
from scoregate.kernel.report.html.sparklines import Scale, axis_limit, log_ticks
from scoregate.kernel.report.rows import RowView
from scoregate.kernel.report.suites import PairedSuite
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.case_columns import Columns, known_values

WIDTH, HEIGHT = 200, 28
_MARGIN = 12
# An interval is cut if it reaches so many times as far as the median interval.
_OUTLIER = 3


@record
class LimitMark:
    """A gate's limit at `x`."""

    x: float
    is_met: bool
    text: str


@record
class ForestRow:
    """One row: positions of the estimate and its interval, None if nothing was compared.

    `cut` holds the positions of ends outside the axis, with their direction.
    """

    view: RowView
    sign: str
    x: float | None = None
    low: float | None = None
    high: float | None = None
    marks: tuple[LimitMark, ...] = ()
    cut: tuple[tuple[float, int], ...] = ()


@record
class ForestPlot:
    """All rows, the position of 0, and the ticks of the axis."""

    lines: tuple[ForestRow, ...]
    zero: float
    ticks: tuple[tuple[float, str], ...]
    has_intervals: bool


def draw_forest(rows: Sequence[RowView]) -> ForestPlot:
    """Draw the changes of rows. A change is run − baseline, whatever the direction of the evaluator."""
    compared = [view for view in rows if view.row.delta is not None and view.low]
    # These values must be visible: changes, limits, and intervals except for outliers.
    deltas = [view.row.delta or 0.0 for view in compared]
    limits = [
        at
        for view in compared
        for gate in view.gates
        if (at := _limit_position(gate, view)) is not None and abs(at) <= 1
    ]
    ends = [max(map(abs, view.row.estimate.interval or (0.0,))) for view in compared]
    usual = median([end for end in ends if end] or [0.0])
    limit = axis_limit([*deltas, *limits, *(min(end, _OUTLIER * usual) for end in ends)])
    scale = Scale(-limit, limit, _MARGIN, WIDTH - _MARGIN)
    ticks = tuple((scale(at), number_format.difference(at, 2) if at else "0") for at in (-limit, 0.0, limit))
    return ForestPlot(tuple(_forest_row(view, scale) for view in rows), scale(0.0), ticks, bool(compared))


def _forest_row(view: RowView, scale: Scale) -> ForestRow:
    row, sign = view.row, "none"
    if view.significant:
        sign = "better" if row.gain > 0 else "worse"
    interval = row.estimate.interval
    if row.delta is None or not view.low or interval is None:
        return ForestRow(view, sign)
    low, high = interval
    ends = ((low, -1), (high, 1))
    cut = tuple((scale(end), way) for end, way in ends if not scale.holds(end))
    marks = tuple(
        LimitMark(scale(at), gate.conclusion is Conclusion.PASSED, f"{gate.title}: {gate.limit}")
        for gate in view.gates
        if (at := _limit_position(gate, view)) is not None and scale.holds(at)
    )
    return ForestRow(view, sign, scale(row.delta), scale(low), scale(high), marks, cut)


def _limit_position(gate: Finding, view: RowView) -> float | None:
    """The position of a gate's limit on the axis of changes."""
    if gate.bound is None:
        return None
    if gate.rule == "drop":
        return -gate.bound if view.row.higher_is_better else gate.bound
    return gate.bound - view.row.base if gate.rule == "mean score" and view.row.base is not None else None


SIZE, DEEP = 132, 140
PANELS = 12
_GRID = 20
_FROM, _TO = 16, SIZE - 12
_SMALLEST, _LARGEST = 2.2, 9.0
_FEW_SCORES = 2
_RowPair: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


@record
class ScatterPoint:
    """A group of cases: position, number, and whether the run is better (1), worse (-1) or equal (0)."""

    x: float
    y: float
    r: float
    count: int
    change: int


@record
class ScatterPanel:
    """One evaluator of one suite."""

    suite: str
    evaluator: str
    worse: int
    same: int
    better: int
    points: tuple[ScatterPoint, ...]


def draw_scatters(rows: Sequence[RowView], paired_suites: Sequence[PairedSuite]) -> tuple[ScatterPanel, ...]:
    """Draw the first evaluators whose cases have more than two different scores in the two runs.

    With two scores, such as 0 and 1, the table of scores has the same four numbers.
    """
    suites = {each.label: each for each in paired_suites}

    @cache
    def list_pairs(label: str) -> list[_RowPair]:
        return [(now, old) for _, now, old in pair_rows(suites[label]) if now and old]

    compared = (view.row for view in rows if view.row.delta is not None and view.row.suite in suites)
    counts = (
        (row, _count_scores(suites[row.suite], row.evaluator, list_pairs(row.suite)))
        for row in compared
        if _may_vary(suites[row.suite], row.evaluator)
    )
    panels = (
        _draw_panel(suites[row.suite], row.evaluator, found)
        for row, found in counts
        if len({score for pair in found for score in pair}) > _FEW_SCORES
    )
    return tuple(islice(panels, PANELS))


def _may_vary(paired_suite: PairedSuite, evaluator: str) -> bool:
    """Whether cases may have more than two different scores. Most suites need no pairs to see that they don't."""
    sides = [columns for columns in (paired_suite.now, paired_suite.before) if columns is not None]
    scores = {score for columns in sides for score in known_values(columns.scores.get(evaluator, ()))}
    return len(scores) > _FEW_SCORES or any(columns.has_repeats for columns in sides)


def _count_scores(paired_suite: PairedSuite, evaluator: str, pairs: Iterable[_RowPair]) -> Counter[tuple[float, float]]:
    """The number of cases with each pair of scores, in the baseline and in the run."""
    new, old = ScoreColumn(paired_suite.now, evaluator), ScoreColumn(paired_suite.before, evaluator)
    averages = ((old.average(before), new.average(now)) for now, before in pairs)
    return Counter((was, is_now) for was, is_now in averages if was is not None and is_now is not None)


def _draw_panel(paired_suite: PairedSuite, evaluator: str, scores: Counter[tuple[float, float]]) -> ScatterPanel:
    cells, changes = Counter[tuple[int, int, int]](), Counter[int]()
    for (was, is_now), count in scores.items():
        change = (is_now > was) - (is_now < was)
        change = change if paired_suite.higher_is_better.get(evaluator, True) else -change
        changes[change] += count
        cells[round(was * _GRID), round(is_now * _GRID), change] += count
    across, up, points = Scale(0, _GRID, _FROM, _TO), Scale(0, _GRID, _TO, _FROM), []
    most = max(cells.values(), default=1)
    for (was_at, now_at, change), count in sorted(cells.items(), key=lambda cell: (-cell[1], cell[0])):
        radius = _SMALLEST + (_LARGEST - _SMALLEST) * sqrt((count - 1) / most)
        points.append(ScatterPoint(across(was_at), up(now_at), round(radius, 2), count, change))
    return ScatterPanel(paired_suite.label, evaluator, changes[-1], changes[0], changes[1], tuple(points))


LATENCY_WIDTH, LATENCY_HEIGHT = 260, 76
LATENCY_PANELS = 12
_BINS = 28
_BASELINE, _TOP = LATENCY_HEIGHT - 16, 6
_LEAST_MS = 0.01


@record
class LatencyPlot:
    """The latencies of one suite: outlines as paths, and ticks. `before` is empty without a baseline."""

    suite: str
    now: str
    before: str
    ticks: tuple[tuple[float, str], ...]


def draw_latencies(paired_suites: Sequence[PairedSuite]) -> tuple[LatencyPlot, ...]:
    """Draw the latencies of the first suites with durations."""
    plots: list[LatencyPlot] = []
    for suite in paired_suites:
        now, before = _times(suite.now), _times(suite.before)
        if len(now) > 1 and len(plots) < LATENCY_PANELS:
            low, high = min((now[0], *before[:1])), max((now[-1], *before[-1:]))
            if high < 2 * low:
                low, high = low / 1.5, high * 1.5
            scale = Scale(log10(low), log10(high), 4, LATENCY_WIDTH - 4)
            ticks = log_ticks(low, high) or (low * (high / low) ** 0.5,)
            texts = (f"{ms:.2g} ms" if ms < 1 else number_format.duration(ms / 1000) for ms in ticks)
            marks = tuple((scale(log10(ms)), text) for ms, text in zip(ticks, texts, strict=True))
            plots.append(LatencyPlot(suite.label, _outline(now, scale), _outline(before, scale), marks))
    return tuple(plots)


def _times(columns: Columns | None) -> list[float]:
    """The durations of the trials, sorted."""
    return [] if columns is None else [max(ms, _LEAST_MS) for ms in sorted(known_values(columns.durations_ms))]


def _outline(times: list[float], scale: Scale) -> str:
    """The outline of a histogram of sorted times, with heights by the share of trials."""
    if not times:
        return ""
    width = (scale.end - scale.start) / _BINS

    def find_bin(ms: float) -> int:
        return min(int((scale(log10(ms)) - scale.start) / width), _BINS - 1)

    ends = (bisect_right(times, at, key=find_bin) for at in range(_BINS))
    bins = [end - start for start, end in pairwise((0, *ends))]
    height = Scale(0, max(bins), _BASELINE, _TOP)
    tops = (f"V{height(count)}H{scale.start + (at + 1) * width:.1f}" for at, count in enumerate(bins))
    return f"M{scale.start} {_BASELINE}{''.join(tops)}V{_BASELINE}"
