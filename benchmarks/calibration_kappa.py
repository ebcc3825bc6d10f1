"""How often the interval of Cohen's kappa contains the true kappa."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import fmean

import numpy as np
from calibration_scores import Array
from calibration_targets import Effort, Rate, Target, print_row, print_table
from numpy.random import default_rng

from scoregate.kernel.compare.agreement import Kappa, cohens_kappa

SIZES = (50, 100, 200)
CHOICES = (2, 3, 5)
PASSING = (0.5, 0.7, 0.9, 0.95)
KAPPAS = (0.0, 0.3, 0.6, 0.8, 0.95)
SKEWS = (0.0, 0.08)
TABLES, FEWEST_TABLES = 4_000, 400
_SLACK = 3.0
COVERAGE, SHARE_OF_CELLS = 0.92, 0.95
COVERAGE_EVERYWHERE = 0.90

_SEED = 20_261_122
INTRODUCTION = """\
Reviews of a judge with 2, 3 or 5 choices; people give the best choice to .5 to .95 of the outputs, the judge as often
or 8 points off. Coverage is how often the interval contains the true kappa, where kappa is defined."""


@dataclass(frozen=True)
class Cell:
    """What was found of one condition."""

    n: int
    choices: int
    passing: float
    kappa: float
    skew: float
    coverage: Rate
    width: float
    narrowest: float

    @property
    def name(self) -> str:
        """The condition in words."""
        return f"n = {self.n}, {self.choices} choices, pass {self.passing}, kappa {self.kappa:.2f}, skew {self.skew}"


def report(effort: Effort) -> Iterator[Target]:
    """Print coverage by size and kappa; yield the targets."""
    cells = measure(effort.of(TABLES, FEWEST_TABLES))
    print_table("Kappa's interval", ["n", "true kappa", "lowest coverage", "mean", "mean width"], INTRODUCTION)
    for n, true in product(SIZES, KAPPAS):
        found = [cell for cell in cells if (cell.n, cell.kappa) == (n, true)]
        rates = [cell.coverage.value for cell in found]
        width = fmean(cell.width for cell in found)
        print_row(n, true, f"{min(rates):.3f}", f"{fmean(rates):.3f}", f"{width:.3f}")
    yield from targets(cells, slack=_SLACK if effort.share < 1 else 0.0)


def measure(tables: int, sizes: Sequence[int] = SIZES) -> list[Cell]:
    """Draw tables under every condition and ask the product for their intervals; the same numbers every time."""
    conditions = product(sizes, CHOICES, PASSING, KAPPAS, SKEWS)
    return [_cell(n, choices, passing, true, skew, tables=tables) for n, choices, passing, true, skew in conditions]


def targets(cells: Sequence[Cell], *, slack: float = 0.0) -> list[Target]:
    """Compare the cells with the targets; `slack`: so many standard errors off are taken for chance."""
    least = min(cells, key=lambda cell: cell.coverage.value)
    good = sum(_reaches(cell, COVERAGE, slack) for cell in cells)
    low = [cell for cell in cells if not _reaches(cell, COVERAGE_EVERYWHERE, slack)]
    narrowest = min(cell.narrowest for cell in cells)
    return [
        Target(
            f"kappa's interval covers at least {COVERAGE} in {SHARE_OF_CELLS:.0%} of conditions",
            f"in {good} of {len(cells)}",
            good >= SHARE_OF_CELLS * len(cells),
        ),
        Target(
            f"and at least {COVERAGE_EVERYWHERE} in all",
            f"least {least.coverage} ({least.name})",
            not low,
        ),
        Target("it is never without a width", f"narrowest {narrowest:.3f}", narrowest > 0),
    ]


def _reaches(cell: Cell, least: float, slack: float) -> bool:
    return cell.coverage.value >= least - slack * cell.coverage.error


def _cell(n: int, choices: int, passing: float, true: float, skew: float, *, tables: int) -> Cell:
    shares, reached = _shares(choices, passing, true, skew)
    source = default_rng([_SEED, n, choices, round(1000 * passing), round(1000 * true), round(1000 * skew)])
    drawn, times = np.unique(source.multinomial(n, shares.ravel(), size=tables), axis=0, return_counts=True)
    found = [(_kappa(table, choices), int(count)) for table, count in zip(drawn, times, strict=True)]
    known = [
        (each.low, each.high, count) for each, count in found if each and each.low is not None and each.high is not None
    ]
    total = sum(count for _, _, count in known)
    covered = sum(count for low, high, count in known if low - 1e-9 <= reached <= high + 1e-9) / total
    return Cell(
        n,
        choices,
        passing,
        true,
        skew,
        Rate(covered, (covered * (1 - covered) / total) ** 0.5, total),
        sum((high - low) * count for low, high, count in known) / total,
        min(high - low for low, high, _ in known),
    )


def _kappa(table: Array, choices: int) -> Kappa | None:
    cells = ((at // choices, at % choices, int(count)) for at, count in enumerate(table))
    return cohens_kappa({(float(judge), float(person)): count for judge, person, count in cells if count})


def _shares(choices: int, passing: float, true: float, skew: float) -> tuple[Array, float]:
    """Return the shares of the table and its kappa: independent scores mixed with scores as alike as they can be.

    With a skew the two cannot always agree as well as is asked for; then kappa is as near as it gets.
    """
    person = _margin(choices, passing)
    judge = _margin(choices, passing - skew if passing > 0.5 else passing + skew)
    common = np.minimum(judge, person)
    alike = np.diag(common)
    if (rest := 1 - common.sum()) > 1e-12:
        alike = alike + np.outer(judge - common, person - common) / rest
    apart, chance = np.outer(judge, person), float((judge * person).sum())
    kappa_of = partial(_kappa_of, chance=chance)
    mixed = min(1.0, true / kappa_of(alike))
    shares: Array = mixed * alike + (1 - mixed) * apart
    return shares, kappa_of(shares)


def _margin(choices: int, passing: float) -> Array:
    return np.array([passing] + [(1 - passing) / (choices - 1)] * (choices - 1))


def _kappa_of(shares: Array, *, chance: float) -> float:
    return float((np.trace(shares) - chance) / (1 - chance))
