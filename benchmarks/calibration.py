"""Simulates pull requests and prints how often the comparison calls them: `calibration.py [--quick] [--check]`."""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import calibration_family
from calibration_adaptive import MORE, Adaptive
from calibration_adaptive import SIZES as ADAPTIVE_SIZES
from calibration_adaptive import measure as measure_adaptive
from calibration_cells import Cell, Effort, Rate, measure
from calibration_scores import KINDS, Kind

SIZES = (10, 20, 50, 100, 200, 1_000)
REPEATS = (1, 3, 5)
HELD_FROM = 50
FALSE_POSITIVES = (0.02, 0.055)
POWER_GAP = 0.04
FAMILY_SIZES = (50, 200)
FAMILY_MOST = 0.05

FULL = Effort(no_op=20_000, worsened=4_000, asked=(200, 150, 400, 150, 300))
QUICK = Effort(no_op=2_000, worsened=600, asked=(15, 15, 60, 15, 30))
FULL_FAMILIES, QUICK_FAMILIES = 2_000, 120

METHODS = ("t", "McNemar", "5 points", "any")
INTRODUCTION = """\
A pull request is `no-op` when nothing changed but luck, `worsened` when every case got worse. Shares of pull requests
called changed (no-op: all of them wrongly) or worse, ± one Monte Carlo standard error; by ours on p ≤ 0.05 before
`min_effect`, the paired t test, the exact McNemar test, a mean that moved (fell) by more than 5 points, and one that
moved (fell) at all. `interval` is how often ours holds the true difference."""


@dataclass(frozen=True)
class Verdict:
    """A target and whether it is met; `found` in words."""

    target: str
    found: str
    met: bool

    def __str__(self) -> str:
        """Return the verdict as a line of the table."""
        return f"| {self.target} | {self.found} | {'ok' if self.met else 'MISSED'} |"


@dataclass(frozen=True)
class Calibration:
    """Everything that was measured. `slack`: how many standard errors off is still taken for chance."""

    cells: list[tuple[Cell, Cell]]
    adaptive: list[Adaptive]
    families: list[calibration_family.Family]
    slack: float

    def verdicts(self) -> Iterator[Verdict]:
        """Hold it against the targets."""
        for kind in KINDS:
            cells = [no_op for no_op, _ in self.cells if no_op.kind == kind.name and no_op.n >= HELD_FROM]
            yield self._false_positives(f"{kind.name}, n ≥ {HELD_FROM}", cells)
        yield self._false_positives("adaptive repeats", [found.no_op for found in self.adaptive])
        yield self._power()
        for family in self.families:
            target = f"12 evaluators, n = {family.n}: any `better` or `worse` on at most {FAMILY_MOST} of no-ops"
            yield Verdict(target, str(family.labels), self._within(family.labels, 0.0, FAMILY_MOST))

    def _false_positives(self, what: str, held: Sequence[Cell]) -> Verdict:
        low, high = FALSE_POSITIVES
        missed = [cell for cell in held if not self._within(cell.ours, low, high)]
        rates = [cell.ours.value for cell in held]
        found = f"{min(rates):.3f} to {max(rates):.3f}" + "".join(f"; {_name(cell)}: {cell.ours}" for cell in missed)
        return Verdict(f"{what}: false positives {low} to {high}", found, not missed)

    def _within(self, rate: Rate, low: float, high: float) -> bool:
        return low - self.slack * rate.error <= rate.value <= high + self.slack * rate.error

    def _power(self) -> Verdict:
        held = [worsened for _, worsened in self.cells if worsened.n >= HELD_FROM]
        worst = max(held, key=lambda cell: abs(_gap(cell)))
        target = f"n ≥ {HELD_FROM}: power within {POWER_GAP} of the paired t's"
        found = f"at most {_gap(worst):+.3f} ({_name(worst)})"
        return Verdict(target, found, abs(_gap(worst)) <= POWER_GAP + self.slack * worst.ours.error)


def _gap(cell: Cell) -> float:
    return cell.ours.value - cell.others["t"]


def _name(cell: Cell) -> str:
    return f"{cell.kind}, n = {cell.n:,} × {cell.repeats or 'auto'}"


def _cells(kind: Kind, effort: Effort) -> Iterator[tuple[Cell, Cell]]:
    """Measure one kind of score and print its table as it comes."""
    groups = " | ".join(f"{group}: ours | {' | '.join(METHODS)}" for group in ("no-op", "worsened"))
    print(f"\n### {kind.name}, worsened by {-kind.effect:.3f}\n")
    print(f"| n | repeats | {groups} | interval, no-op | interval, worsened |")
    print("|" + "--:|" * (6 + 2 * len(METHODS)))
    for n in SIZES:
        for repeats in REPEATS:
            no_op, worsened = (measure(kind, n, repeats, worse=worse, effort=effort) for worse in (False, True))
            told = [*_told(no_op), *_told(worsened), str(no_op.covered), str(worsened.covered)]
            print(f"| {n:,} | {repeats} | {' | '.join(told)} |", flush=True)
            yield no_op, worsened


def _told(cell: Cell) -> Iterator[str]:
    yield str(cell.ours)
    yield from (f"{cell.others[name]:.3f}" if name in cell.others else "" for name in METHODS)


def _adaptive(cells: Sequence[tuple[Cell, Cell]], effort: Effort) -> Iterator[Adaptive]:
    """Measure adaptive repeats and print them between one trial of each case and five."""
    print(f"\n### Adaptive repeats: {MORE} more trials, on both sides, of cases whose first trials differ\n")
    print("| kind | n | no-op: once | adaptive | × 5 | worsened: once | adaptive | × 5 | trials a case |")
    print("|---|" + "--:|" * 8)
    fixed = {(no_op.kind, no_op.n, no_op.repeats): (no_op.ours, worsened.ours) for no_op, worsened in cells}
    for kind in KINDS[:2]:  # of continuous scores every case differs
        for n in ADAPTIVE_SIZES:
            found = measure_adaptive(kind, n, effort)
            once, five = (fixed[kind.name, n, repeats] for repeats in (1, 1 + MORE))
            told = (once[0], found.no_op.ours, five[0], once[1], found.worsened.ours, five[1])
            print(f"| {kind.name} | {n} | {' | '.join(map(str, told))} | {found.trials:.1f} |", flush=True)
            yield found


def _families(pull_requests: int) -> Iterator[calibration_family.Family]:
    print("\n### 12 evaluators on no-op pull requests\n")
    print("| n | correlation | any p ≤ 0.05 | any label | any by Holm |\n|--:|--:|--:|--:|--:|")
    for n in FAMILY_SIZES:
        found = calibration_family.measure(n, pull_requests)
        print(f"| {n} | {found.correlation:.2f} | {found.alone} | {found.labels} | {found.gates} |", flush=True)
        yield found


def main() -> int:
    """Print every table and the targets; return 1 where one is missed and `--check` was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="fewer pull requests; two standard errors off are forgiven"
    )
    parser.add_argument("--check", action="store_true", help="exit 1 where a target is missed")
    arguments = parser.parse_args()
    effort, pull_requests = (QUICK, QUICK_FAMILIES) if arguments.quick else (FULL, FULL_FAMILIES)
    started = time.monotonic()
    print(INTRODUCTION)
    cells = [pair for kind in KINDS for pair in _cells(kind, effort)]
    adaptive, families = list(_adaptive(cells, effort)), list(_families(pull_requests))
    verdicts = list(Calibration(cells, adaptive, families, slack=2.0 if arguments.quick else 0.0).verdicts())
    print("\n### Targets\n\n| target | found | |\n|---|---|---|", *verdicts, sep="\n")
    print(f"\n{effort.no_op:,} no-op and {effort.worsened:,} worsened pull requests a cell (half from 1,000 cases on),")
    print(f"{pull_requests:,} a family; {time.monotonic() - started:.0f} s.")
    return int(arguments.check and not all(verdict.met for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
