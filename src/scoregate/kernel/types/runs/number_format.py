"""Numbers as text: fixed decimals, a real minus sign, a unit."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from math import expm1

from scoregate.kernel.types.runs.run import Run, sum_costs
from scoregate.kernel.types.text import format_dollars

NONE = "–"
_AGES = (("day", 86_400), ("hour", 3600), ("minute", 60))


def score(value: float | None) -> str:
    """A score or a mean of scores: `0.920`."""
    return NONE if value is None else f"{value:.3f}"


def short(value: float) -> str:
    """A single score without trailing zeros: `1`, `0.5`, `0.333`."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def difference(value: float, digits: int = 3) -> str:
    """A difference: `−0.080`, `+0.015`, `±0`."""
    text = f"{abs(value):.{digits}f}"
    if not float(text):
        return "±0"
    return f"{'−' if value < 0 else '+'}{text}"


def percent(rate: float) -> str:
    """A rate in [0, 1] as `91.5%`; `100.0%` and `0.0%` mean exactly all and none."""
    if 0 < rate < 1:
        rate = min(max(rate, 0.001), 0.999)
    return f"{rate:.1%}"


def percentage_points(difference_of_rates: float) -> str:
    """A difference of rates in percentage points: `−5.0 pp`."""
    text = difference(100 * difference_of_rates, 1)
    return text if text == "±0" else f"{text} pp"


def percentage_point_interval(low: float, high: float) -> str:
    """An interval of rates in percentage points: `[−7.1, −0.9]`."""
    return f"[{difference(100 * low, 1)}, {difference(100 * high, 1)}]"


def ratio(logarithm: float) -> str:
    """The natural logarithm of a ratio as a change in percent: `+12%`."""
    return f"{difference(100 * expm1(logarithm), 0)}%"


def relative(new: float, old: float) -> str:
    """A change in percent of the old value: `+4%`; empty where the old value is 0."""
    return f"{difference(100 * (new / old - 1), 0)}%" if old else ""


def p_value(p: float) -> str:
    """`p = 0.03`, `p = 0.0005`, `p < 0.0001`."""
    if p < 0.0001:
        return "p < 0.0001"
    digits = 2 if p >= 0.01 else 3 if p >= 0.001 else 4
    return f"p = {p:.{digits}f}"


def duration(seconds: float) -> str:
    """`812 ms`, `2.1 s`, `1 m 12 s`, `2 h 5 m`."""
    if seconds < 0.9995:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} m {rest} s"
    return f"{minutes // 60} h {minutes % 60} m"


def tokens(number: float) -> str:
    """A count of tokens: `640`, `1.8 k`, `181 k`, `2.3 M`."""
    if number < 999.5:
        return f"{number:.0f}"
    if number < 999_500:
        return f"{number / 1e3:.0f} k" if number >= 9950 else f"{number / 1e3:.1f} k"
    return f"{number / 1e6:.1f} M"


def cost(dollars: float) -> str:
    """US dollars: `$0.42`, `$12.30`; below a cent two significant digits, `$0.0042`."""
    return format_dollars(dollars)


def cost_change(dollars: float) -> str:
    """A difference in US dollars: `+$0.03`, `−$0.10`, `±0`."""
    if abs(dollars) < 0.00001:
        return "±0"
    return f"{'−' if dollars < 0 else '+'}{cost(abs(dollars))}"


def moment(seconds: float) -> str:
    """A time, seconds since the epoch: `2026-11-20 18:23 UTC`."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def count(number: int, noun: str) -> str:
    """`1 case`, `1,024 cases`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def trials(cases: int, number: int) -> str:
    """Trials of cases: `30 cases`, `30 cases × 3`, `64 trials of 30 cases`; 0 cases if their number is unknown."""
    if cases in (0, number):
        return count(number, "case")
    return (
        f"{count(cases, 'case')} × {number // cases}"
        if number % cases == 0
        else f"{number:,} trials of {cases:,} cases"
    )


def age(seconds: float) -> str:
    """An age: `2 hours old`, `just finished`."""
    for noun, size in _AGES:
        if seconds >= size:
            return f"{count(int(seconds // size), noun)} old"
    return "just finished"


def extra_cost(runs: Iterable[Run | None]) -> str:
    """The cost of more runs as text; empty if no price is known or nothing was paid."""
    costs = [known for run in runs if run is not None and (known := sum_costs(run)) is not None]
    return f"cost {cost(sum(costs))} beyond the run's own figures" if sum(costs) else ""
