"""The page of a history: trends of evaluators over months, flaky cases and costs, in one file without scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import ceil, floor
from pathlib import Path

from scoregate import __version__
from scoregate.features.history.queries import CostRow, FlakyCase, TrendPoint
from scoregate.kernel.report.html.assets import hash_source, read_source
from scoregate.kernel.report.html.document import load_template
from scoregate.kernel.report.html.sparklines import Scale
from scoregate.kernel.report.text import display_name
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format

WIDTH, HEIGHT = 760, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, WIDTH - 14, 22, HEIGHT - 24
MOST_FIGURES, MOST_ROWS = 100, 25
# Each has a text for the pointer; on all runs of years, these would make up most of the page.
_MOST_POINTS = 150
_MOST_MARKS = 30
_MOST_TICKS = 8
_STEPS_OF_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)
_STYLES = ("base.css", "page.css", "top.css")
_JUDGE = {"model": "the judge's model", "prompt": "the judge's prompt", "source": "the scorer's code"}
_PARTS = {**_JUDGE, "parameters": "the judge's parameters", "version": "the scorer's version"}


@record
class PointView:
    """A run in a figure, with the text for the pointer."""

    x: float
    y: float
    text: str


@record
class MarkView:
    """A change of a judge or a model: its position, its number in the figure, and what changed."""

    x: float
    number: int
    when: str
    text: str


@record
class TrendFigure:
    """The trend of an evaluator as a drawing.

    Attributes:
        line: the path through the means; it has a gap where the evaluator changed.
        band: the path around the intervals.
        points: the runs with texts for the pointer.
        marks: the changes; `more_marks` further ones are left out.
        months: the ticks of the time axis.
        levels: the ticks of the score axis.
    """

    suite: str
    evaluator: str
    summary: str
    line: str
    band: str
    points: tuple[PointView, ...]
    marks: tuple[MarkView, ...]
    more_marks: int
    months: tuple[tuple[float, str], ...]
    levels: tuple[tuple[float, str], ...]


@record
class HistoryData:
    """What the page shows.

    Attributes:
        project: the name of the project.
        made: when the page is made, in seconds since the epoch.
        trends: the trends, by suite and evaluator.
        flaky: the flaky cases, the most certain ones first.
        by_model: the costs by model.
        by_month: the costs by month.
    """

    project: str
    made: float
    trends: Mapping[tuple[str, str], Sequence[TrendPoint]]
    flaky: Sequence[FlakyCase]
    by_model: Sequence[CostRow]
    by_month: Sequence[CostRow]


def render_trends(data: HistoryData) -> Iterator[str]:
    """Yield the page. It loads nothing, and runs no script."""
    style = "".join(map(read_source, _STYLES)) + Path(__file__).with_name("trends.css").read_text(encoding="utf-8")
    drawn = {names: [each for each in points if each.mean is not None] for names, points in data.trends.items()}
    known = sorted(((names, points) for names, points in drawn.items() if points), key=lambda each: each[0])
    times = [point.finished for _, points in known for point in points]
    runs = len({(point.finished, point.run) for _, points in known for point in points})
    figures = known[:MOST_FIGURES]
    policy = f"default-src 'none'; style-src '{hash_source(style)}'; base-uri 'none'; form-action 'none'"
    yield load_template("features/history/trends.html.j2").render(
        project=display_name(data.project),
        version=__version__,
        style=style,
        policy=policy,
        made=number_format.moment(data.made),
        runs=runs,
        first=number_format.moment(min(times)) if times else "",
        last=number_format.moment(max(times)) if times else "",
        figures=[_draw_figure(names, points, min(times), max(times)) for names, points in figures],
        more_figures=len(known) - len(figures),
        flaky=data.flaky[:MOST_ROWS],
        more_flaky=max(0, len(data.flaky) - MOST_ROWS),
        costs=(("Costs by model", "Model", _cost_rows(data.by_model)), _costs_by_month(data.by_month)),
        size=(WIDTH, HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM),
    )


def _costs_by_month(rows: Sequence[CostRow]) -> tuple[str, str, list[tuple[str, ...]]]:
    ordered = sorted(rows, key=lambda row: row.group, reverse=True)
    return "Costs by month", "Month", [(f"{name[:4]}-{name[4:]}", *rest) for name, *rest in _cost_rows(ordered)]


def _cost_rows(rows: Sequence[CostRow]) -> list[tuple[str, ...]]:
    return [
        (
            display_name(row.group) if row.group else number_format.NONE,
            f"{row.runs:,}",
            f"{row.calls:,}",
            number_format.tokens(row.input_tokens + row.output_tokens),
            number_format.NONE if row.cost is None else number_format.cost(row.cost),
        )
        for row in rows[:MOST_ROWS]
    ]


def _draw_figure(names: tuple[str, str], points: Sequence[TrendPoint], first: float, last: float) -> TrendFigure:
    means = [point.mean or 0.0 for point in points]
    ends = [end for point in points for end in (point.low, point.high) if end is not None]
    low, high = _score_range([*means, *ends])
    across = Scale(first, last if last > first else first + 1, _LEFT, _RIGHT)
    up = Scale(low, high, _BOTTOM, _TOP)
    changed = [point for point in points if point.changes]
    marks = [
        MarkView(across(point.finished), number, number_format.moment(point.finished), _describe_changes(point))
        for number, point in enumerate(changed[:_MOST_MARKS], 1)
    ]
    step = ceil(len(points) / _MOST_POINTS)
    shown = [point for at, point in enumerate(reversed(points)) if at % step == 0 or point.changes]
    return TrendFigure(
        display_name(names[0]),
        display_name(names[1]),
        _summarise(means),
        _line_path(points, across, up),
        _band_path(points, across, up),
        tuple(PointView(across(each.finished), up(each.mean or 0.0), _point_text(each)) for each in shown[::-1]),
        tuple(marks),
        len(changed) - len(marks),
        tuple((across(at), text) for at, text in _month_ticks(first, last)),
        tuple((up(at), f"{at:.2f}") for at in (low, (low + high) / 2, high)),
    )


def _summarise(means: Sequence[float]) -> str:
    parts = [f"{number_format.count(len(means), 'run')}, last {number_format.score(means[-1])}"]
    if len(means) > 1:
        parts += [f"lowest {number_format.score(min(means))}, highest {number_format.score(max(means))}"]
    return "; ".join(parts)


def _score_range(values: Sequence[float]) -> tuple[float, float]:
    """Round ends of the axis that hold all values, at least 0.2 apart."""
    low, high = floor(min(values) * 10) / 10, ceil(max(values) * 10) / 10
    if high - low < 0.2:
        low, high = (low, low + 0.2) if low + 0.2 <= 1 else (max(0.0, high - 0.2), high)
    return round(low, 1), round(high, 1)


def _line_path(points: Sequence[TrendPoint], across: Scale, up: Scale) -> str:
    parts = list[str]()
    for at, point in enumerate(points):
        is_joined = at > 0 and not _PARTS.keys() & set(point.changes)
        parts.append(f"{'L' if is_joined else 'M'}{across(point.finished)} {up(point.mean or 0.0)}")
    return "".join(parts)


def _band_path(points: Sequence[TrendPoint], across: Scale, up: Scale) -> str:
    """A closed path around the intervals of each stretch without a change of the evaluator."""
    parts, stretch = list[str](), list[tuple[float, float, float]]()
    for point in points:
        if _PARTS.keys() & set(point.changes):
            parts.append(_closed_path(stretch))
            stretch = []
        if point.low is not None and point.high is not None:
            stretch.append((across(point.finished), up(point.low), up(point.high)))
    return "".join((*parts, _closed_path(stretch)))


def _closed_path(stretch: Sequence[tuple[float, float, float]]) -> str:
    if len(stretch) < 2:
        return ""
    there = "L".join(f"{x} {high}" for x, _, high in stretch)
    back = "L".join(f"{x} {low}" for x, low, _ in reversed(stretch))
    return f"M{there}L{back}Z"


def _describe_changes(point: TrendPoint) -> str:
    texts = [_PARTS[name] for name in point.changes if name in _PARTS]
    text = f"{', '.join(texts)} changed" if texts else ""
    if "model" in point.changes and point.judge:
        text += f"; the judge is {display_name(point.judge, 60)}"
    if "models" in point.changes:
        text += f"{'; ' if text else ''}the model is {display_name(point.models, 60) if point.models else 'unknown'}"
    return text


def _point_text(point: TrendPoint) -> str:
    commit = "@".join(filter(None, (point.branch, (point.commit or "")[:7]))) or point.run
    interval = f" [{point.low:.3f}, {point.high:.3f}]" if point.low is not None and point.high is not None else ""
    scored = number_format.count(point.n, "case")
    parts = [number_format.score(point.mean) + interval, scored, display_name(commit, 60)]
    message = [display_name(point.message, 80)] if point.message else []
    return " · ".join([*parts, number_format.moment(point.finished), *message])


def _month_ticks(first: float, last: float) -> Iterator[tuple[float, str]]:
    """The starts of months, or of every second, third, … one."""
    start, end = (datetime.fromtimestamp(at, UTC) for at in (first, last))
    months = (end.year - start.year) * 12 + end.month - start.month
    step = next((step for step in _STEPS_OF_MONTHS if months / step <= _MOST_TICKS), _STEPS_OF_MONTHS[-1])
    for number in range(start.year * 12 + start.month, end.year * 12 + end.month):
        moment = datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)
        if number % step == 0:
            yield moment.timestamp(), f"{moment:%b %Y}"
