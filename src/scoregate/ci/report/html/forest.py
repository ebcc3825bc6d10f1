"""The forest plot: the change of every evaluator with its interval, on one scale, and the limits that gates set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from scoregate.ci.report import numbers
from scoregate.ci.report.html.scale import Scale, reach
from scoregate.ci.report.row_views import RowView
from scoregate.core.rules import Conclusion, Finding

WIDTH, HEIGHT = 260, 28
_MARGIN = 12
# An interval that reaches so many times as far as the median one is cut.
_OUTLIER = 3


@dataclass(frozen=True, slots=True)
class Mark:
    """A gate's limit at `x`."""

    x: float
    held: bool
    told: str


@dataclass(frozen=True, slots=True)
class Line:
    """One row: places of the estimate and its interval, None where nothing was compared.

    `cut` holds the places of ends that lie farther out, with the direction in which they do.
    """

    view: RowView
    sign: str
    x: float | None = None
    low: float | None = None
    high: float | None = None
    marks: tuple[Mark, ...] = ()
    cut: tuple[tuple[float, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Forest:
    """All rows, where 0 is, and the ticks of the axis."""

    lines: tuple[Line, ...]
    zero: float
    ticks: tuple[tuple[float, str], ...]
    drawn: bool


def forest(rows: Sequence[RowView]) -> Forest:
    """The plot of these rows. Changes are run − base, whatever the evaluator's direction."""
    drawn = [view for view in rows if view.row.delta is not None and view.low]
    far = reach(_values(drawn))
    scale = Scale(-far, far, _MARGIN, WIDTH - _MARGIN)
    ticks = tuple((scale(at), numbers.signed(at, 2) if at else "0") for at in (-far, 0.0, far))
    return Forest(tuple(_line(view, scale) for view in rows), scale(0.0), ticks, bool(drawn))


def _values(drawn: Sequence[RowView]) -> Iterator[float]:
    """What has to be seen: changes, limits, and every interval that is not several times as far as is usual."""
    deltas = [view.row.delta or 0.0 for view in drawn]
    limits = [at for view in drawn for gate in view.gates if (at := _limit(gate, view)) is not None and abs(at) <= 1]
    ends = [max(abs(view.row.low or 0.0), abs(view.row.high or 0.0)) for view in drawn]
    usual = median([end for end in ends if end] or [0.0])
    yield from (*deltas, *limits, *(min(end, _OUTLIER * usual) for end in ends))


def _line(view: RowView, scale: Scale) -> Line:
    row, sign = view.row, _sign(view)
    if row.delta is None or not view.low or row.low is None or row.high is None:
        return Line(view, sign)
    ends = ((row.low, -1), (row.high, 1))
    cut = tuple((scale(end), way) for end, way in ends if not scale.holds(end))
    return Line(view, sign, scale(row.delta), scale(row.low), scale(row.high), tuple(_marks(view, scale)), cut)


def _sign(view: RowView) -> str:
    """What colours the row: only what is more than noise."""
    if view.significant:
        return "better" if view.row.gain > 0 else "worse"
    return "none"


def _marks(view: RowView, scale: Scale) -> Iterator[Mark]:
    for gate in view.gates:
        at = _limit(gate, view)
        if at is not None and scale.holds(at):
            yield Mark(scale(at), gate.conclusion is Conclusion.PASSED, f"{gate.title}: {gate.limit}")


def _limit(gate: Finding, view: RowView) -> float | None:
    """Where a gate's limit lies on the axis of changes."""
    if gate.bound is None:
        return None
    if gate.rule == "drop":
        return -gate.bound if view.row.higher_is_better else gate.bound
    return gate.bound - view.row.base if gate.rule == "mean score" and view.row.base is not None else None
