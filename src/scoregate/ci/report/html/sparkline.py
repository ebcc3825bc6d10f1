"""Sparklines: what the last runs measured as a line, each run at the same place in all of them, and this run's mark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scoregate.ci.report import numbers
from scoregate.ci.report.html.scale import Scale

WIDTH, HEIGHT = 88, 28
_LEFT, _RIGHT, _TOP, _BOTTOM = 3, WIDTH - 6, 6, HEIGHT - 6
_LEAST = 0.1


@dataclass(frozen=True, slots=True)
class Known:
    """A number of one run, and by what it was made where that may differ from run to run; empty if nobody knows."""

    value: float
    made_by: str = ""

    def joins(self, other: Known) -> bool:
        """Whether a line may lead from one to the other."""
        return not self.made_by or not other.made_by or self.made_by == other.made_by


@dataclass(frozen=True, slots=True)
class Point:
    """Where a run is across, the left and the width of its strip, and what it measured, in words."""

    x: float
    left: float
    width: float
    told: str


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A drawing: `line` and the `link` to this run's mark as paths, either of them empty; `words` say it all."""

    line: str
    link: str
    mark: tuple[float, float] | None
    points: tuple[Point, ...]
    words: str


def sparkline(
    past: Sequence[Known | None],
    now: Known | None,
    *,
    runs: Sequence[str],
    show: Callable[[float], str],
    most: float | None = None,
) -> Sparkline | None:
    """The drawing of a column; None where no earlier run has a number.

    Args:
        past: a place for each run of the history, oldest first. now: this run's.
        runs: which runs these were, for who points at one; empty where nobody is to be told.
        show: a number as text. most: the largest that is possible; None where there is none.
    """
    known = [each for each in past if each is not None]
    if not known:
        return None
    across = Scale(0, len(past), _LEFT, _RIGHT)
    up = _up([*known, *([now] if now is not None else [])], most)
    mark = None if now is None else (across(len(past)), up(now.value))
    points = () if not runs else tuple(_points(past, runs, across=across, show=show))
    return Sparkline(
        _line(past, across, up), _link(past, now, across=across, up=up), mark, points, _words(known, now, show)
    )


def _up(known: Sequence[Known], most: float | None) -> Scale:
    """From the lowest to the highest, but never so near that a thousandth looks like a fall."""
    low, high = min(each.value for each in known), max(each.value for each in known)
    least = _LEAST * (most or high) or 1.0
    if high - low < least:
        low, high = (low + high - least) / 2, (low + high + least) / 2
        shift = max(0.0, -low) - max(0.0, high - most if most is not None else 0.0)
        low, high = low + shift, high + shift
    return Scale(low, high, _BOTTOM, _TOP)


def _line(past: Sequence[Known | None], across: Scale, up: Scale) -> str:
    """A number with no neighbour is a dot: a line of no length."""
    parts, before = list[str](), None
    for at, each in enumerate(past):
        if each is not None:
            joined = before is not None and before.joins(each)
            place = f"{across(at)} {up(each.value)}"
            parts.append(f"L{place}" if joined else f"M{place}h0")
        before = each
    return "".join(parts)


def _link(past: Sequence[Known | None], now: Known | None, *, across: Scale, up: Scale) -> str:
    last = next((at for at in reversed(range(len(past))) if past[at] is not None), None)
    before = None if last is None else past[last]
    if last is None or before is None or now is None or not before.joins(now):
        return ""
    return f"M{across(last)} {up(before.value)}L{across(len(past))} {up(now.value)}"


def _points(
    past: Sequence[Known | None], runs: Sequence[str], *, across: Scale, show: Callable[[float], str]
) -> Iterator[Point]:
    step = across(1) - across(0)
    for at, (each, run) in enumerate(zip(past, runs, strict=True)):
        if each is not None:
            x = across(at)
            yield Point(x, round(x - step / 2, 2), round(step, 2), f"{show(each.value)} · {run}")


def _words(known: Sequence[Known], now: Known | None, show: Callable[[float], str]) -> str:
    """`last 8 runs: 0.810 … 0.840; now 0.790; lowest 0.790, highest 0.852`."""
    values = [each.value for each in known]
    first, last = show(values[0]), show(values[-1])
    told = f"last {numbers.count(len(values), 'run')}: {first} … {last}" if len(values) > 1 else f"last run: {last}"
    values += [] if now is None else [now.value]
    parts = [told, *([] if now is None else [f"now {show(now.value)}"])]
    low, high = show(min(values)), show(max(values))
    parts += [f"lowest {low}, highest {high}"] if low != high else []
    apart = sum(not one.joins(other) for one, other in pairwise([*known, *([now] if now is not None else [])]))
    return "; ".join(parts + ([f"the evaluator was changed {numbers.count(apart, 'time')}"] if apart else []))
