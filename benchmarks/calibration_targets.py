"""What every part of the calibration shares: rates with their errors, targets, and how many pull requests to draw."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from scoregate.kernel.compare.statistics.distributions import normal_quantile

ALPHA = 0.05
# A target of one cell is missed by chance as seldom as by two standard errors.
_CHANCE = 0.0228


@dataclass(frozen=True)
class Effort:
    """How much is simulated: a share of the full run's pull requests."""

    share: float = 1.0

    def of(self, full: int, least: int = 0) -> int:
        """Return how many pull requests to draw where the full run draws `full`."""
        return min(full, max(least, round(full * self.share)))


@dataclass(frozen=True)
class Rate:
    """A share of pull requests (or a mean over them) and its Monte Carlo standard error; `count` were drawn."""

    value: float
    error: float
    count: int = 0

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.error:.3f}"

    @classmethod
    def of(cls, hits: int, count: int) -> Rate:
        """Return the share of `count` that are hits."""
        share = hits / count
        return cls(share, sqrt(share * (1 - share) / count), count)

    def is_within(self, low: float, high: float, slack: float) -> bool:
        """Whether the rate is in the range, give or take `slack` standard errors."""
        return low - slack * self._error_at(low) <= self.value <= high + slack * self._error_at(high)

    def _error_at(self, limit: float) -> float:
        """The standard error if the true rate were at the limit, which counts where a rate of 0 or 1 was found."""
        at_limit = sqrt(limit * (1 - limit) / self.count) if self.count and 0 < limit < 1 else 0.0
        return max(self.error, at_limit)


@dataclass(frozen=True)
class Target:
    """A target and whether it is met; `found` in words."""

    target: str
    found: str
    met: bool

    def __str__(self) -> str:
        return f"| {self.target} | {self.found} | {'ok' if self.met else 'MISSED'} |"


def hold(what: str, cells: Mapping[str, Rate], low: float = 0.0, high: float = 1.0) -> Target:
    """Compare the rates of one or more cells with a range, which is added to the text.

    Two standard errors are forgiven. Where a target has many cells, more are forgiven in each, so that chance misses
    the target as seldom as one with a single cell.
    """
    slack = normal_quantile(1 - _CHANCE / len(cells))
    missed = {name: rate for name, rate in cells.items() if not rate.is_within(low, high, slack)}
    values = [rate.value for rate in cells.values()]
    found = f"{min(values):.3f} to {max(values):.3f} ({len(cells)} cells)" if len(cells) > 1 else str(_only(cells))
    return Target(
        f"{what}: {_range(low, high)}",
        found + "".join(f"; {name}: {rate}" for name, rate in missed.items()),
        not missed,
    )


def _range(low: float, high: float) -> str:
    if low == 0:
        return f"at most {high:g}"
    return f"at least {low:g}" if high == 1 else f"{low:g} to {high:g}"


def _only(cells: Mapping[str, Rate]) -> Rate:
    (rate,) = cells.values()
    return rate


def print_table(title: str, head: Sequence[str], text: str = "") -> None:
    """Print the head of a Markdown table, its title above."""
    print(f"\n### {title}\n")
    if text:
        print(f"{text}\n")
    print(f"| {' | '.join(head)} |\n|{'--:|' * len(head)}", flush=True)


def print_row(*values: object) -> None:
    """Print a line of a Markdown table."""
    print(f"| {' | '.join(map(str, values))} |", flush=True)


def print_targets(targets: Iterable[Target]) -> None:
    """Print the table of targets."""
    print("\n### Targets\n\n| target | found | |\n|---|---|---|", *targets, sep="\n", flush=True)


Report = Callable[[Effort], Iterator[Target]]


def run_topics(topics: Mapping[str, Report], description: str | None, *, quick: float, introduction: str = "") -> int:
    """Print every table and the targets, by the arguments of the command line.

    Args:
        topics: what prints the tables of a topic and yields its targets.
        description: of the script.
        quick: the share of all pull requests that `--quick` simulates.
        introduction: is printed first.

    Returns:
        1 where a target is missed and `--check` was asked for.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"what to simulate: {', '.join(topics)}")
    parser.add_argument("--quick", action="store_true", help="fewer pull requests, so that errors are larger")
    parser.add_argument("--check", action="store_true", help="exit 1 where a target is missed")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.topics if name not in topics]:
        parser.error(f"no topic is called {', '.join(unknown)}")
    if introduction:
        print(introduction)
    effort, targets = Effort(quick if arguments.quick else 1.0), list[Target]()
    for name in arguments.topics or topics:
        print(f"\n## {name}")
        started, busy = time.monotonic(), time.process_time()
        targets += (replace(target, target=f"{name}: {target.target}") for target in topics[name](effort))
        print(f"\n{time.process_time() - busy:.0f} s of CPU, {time.monotonic() - started:.0f} s.", flush=True)
    print_targets(targets)
    return int(arguments.check and not all(target.met for target in targets))
