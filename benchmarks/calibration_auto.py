"""Does `--repeats auto` keep the level? No-op and worsened pull requests, with the product's own choice of cases."""

from __future__ import annotations

import argparse
import random
from dataclasses import replace
from math import sqrt

from scoregate.core.case import CaseResult
from scoregate.core.columns import Columns
from scoregate.core.compare import compare
from scoregate.core.evaluation import Evaluation
from scoregate.core.events import EvaluatorInfo
from scoregate.core.record import Run, SuiteResult
from scoregate.core.undecided import undecided

ROUNDS, REPEATS = 2, 2
SIZES = (20, 50, 100, 200)
LEVEL = (0.0, 0.055)


def run_of(chances: dict[str, float], repeats: int, source: random.Random) -> Run:
    """A run in which each case passes by its chance."""
    columns = Columns()
    for case, chance in chances.items():
        for repeat in range(repeats):
            score = float(source.random() < chance)
            columns.add(CaseResult(0, case, repeat, evaluations={"e": Evaluation(score)}))
    suite = SuiteResult("s", "s", script="s.py", evaluators={"e": EvaluatorInfo("e")}, complete=True, columns=columns)
    return Run("id", 0.0, 1.0, "0", complete=True, suites=(suite,))


def chances_of(n: int, source: random.Random) -> dict[str, float]:
    """Bimodal, as suites are: most cases nearly always pass, some rarely do."""
    return {
        f"case {at}": source.betavariate(8, 1) if source.random() < 0.75 else source.betavariate(1, 3)
        for at in range(n)
    }


def adapted(before: dict[str, float], after: dict[str, float], source: random.Random) -> tuple[float, float, int]:
    """One pull request: p after one trial a case, p after adaptive repeats, and the extra trials."""
    base, run, extra = run_of(before, 1, source), run_of(after, 1, source), 0
    first = compare(run, base).rows[0].p
    for _ in range(ROUNDS):
        chosen = undecided(run, base, 0, 0)
        extra += 2 * REPEATS * len(chosen)
        run = replace(run, extras=(*run.extras, run_of({case: after[case] for case in chosen}, REPEATS, source)))
        base = replace(base, extras=(*base.extras, run_of({case: before[case] for case in chosen}, REPEATS, source)))
    last = compare(run, base).rows[0].p
    return first or 0.0, last or 0.0, extra


def cell(n: int, drop: float, simulations: int) -> tuple[float, float, float]:
    """The shares called at 5 % with one trial and with adaptive repeats, and the extra trials a pull request."""
    source = random.Random(1_000 * n + int(1_000 * drop))
    once = auto = extras = 0
    for _ in range(simulations):
        before = chances_of(n, source)
        first, last, extra = adapted(before, {case: chance * (1 - drop) for case, chance in before.items()}, source)
        once, auto, extras = once + (first <= 0.05), auto + (last <= 0.05), extras + extra
    return once / simulations, auto / simulations, extras / simulations


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=2_000)
    parser.add_argument("--check", action="store_true", help="exit with 1 where the level is not kept")
    options = parser.parse_args()
    error = sqrt(0.05 * 0.95 / options.simulations)
    print(f"{options.simulations} simulations a cell, Monte Carlo error ±{error:.3f}")
    print("    n   effect   one trial   auto   extra trials   of")
    missed = False
    for drop in (0.0, 0.15):
        for n in SIZES:
            once, auto, extra = cell(n, drop, options.simulations)
            missed |= not drop and auto > LEVEL[1] + 2 * error
            print(f"{n:5}   {-drop:6.0%}   {once:9.3f}   {auto:4.3f}   {extra:12.0f}   {2 * ROUNDS * REPEATS * n}")
    print("MISSED" if missed else "ok: no-op pull requests are called at the level that was asked for")
    return int(missed and options.check)


if __name__ == "__main__":
    raise SystemExit(main())
