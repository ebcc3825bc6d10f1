"""How long trials took: for each suite the run's distribution against the base's, on a scale of decades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from scoregate.ci.report import numbers
from scoregate.ci.report.html.scale import Scale, decades
from scoregate.ci.report.sides import Sides
from scoregate.ci.report.spending import known
from scoregate.core.columns import Columns

WIDTH, HEIGHT = 260, 76
PANELS = 12
_BINS = 28
_BASELINE, _TOP = HEIGHT - 16, 6
_LEAST_MS = 0.01


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of one suite: outlines as paths, and ticks. `before` is empty where the base has none."""

    suite: str
    now: str
    before: str
    ticks: tuple[tuple[float, str], ...]


def spreads(sides: Sequence[Sides]) -> tuple[Spread, ...]:
    """Of the first suites that know how long their trials took."""
    found = ((each.label, _times(each.now), _times(each.before)) for each in sides)
    return tuple(_spread(*each) for each in [each for each in found if len(each[1]) > 1][:PANELS])


def _times(columns: Columns | None) -> list[float]:
    return [] if columns is None else [max(ms, _LEAST_MS) for ms in known(columns.durations_ms)]


def _spread(suite: str, now: list[float], before: list[float]) -> Spread:
    low, high = min(now + before), max(now + before)
    if high < 2 * low:
        low, high = low / 1.5, high * 1.5
    scale = Scale(log10(low), log10(high), 4, WIDTH - 4)
    ticks = decades(low, high) or (low * (high / low) ** 0.5,)
    shown = tuple((scale(log10(at)), _words(at)) for at in ticks)
    return Spread(suite, _outline(now, scale), _outline(before, scale), shown)


def _words(ms: float) -> str:
    return f"{ms:.2g} ms" if ms < 1 else numbers.duration(ms / 1000)


def _outline(times: list[float], scale: Scale) -> str:
    """A path along the tops of the bins, each as high as the share of the trials in it."""
    if not times:
        return ""
    width = (scale.end - scale.start) / _BINS
    bins = [0] * _BINS
    for ms in times:
        bins[min(int((scale(log10(ms)) - scale.start) / width), _BINS - 1)] += 1
    height = Scale(0, max(bins), _BASELINE, _TOP)
    tops = (f"V{height(count)}H{scale.start + (at + 1) * width:.1f}" for at, count in enumerate(bins))
    return f"M{scale.start} {_BASELINE}{''.join(tops)}V{_BASELINE}"
