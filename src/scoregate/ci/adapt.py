"""Adaptive repeats: more trials only of the cases that differ, on both sides, within a budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from scoregate.ci.archive import BASE_FOLDER, EXTRA, RUN_FOLDER
from scoregate.ci.baseline import Baseline
from scoregate.ci.extra_cost import extra_cost
from scoregate.ci.parts import Ports
from scoregate.ci.plan import Plan, restricted
from scoregate.ci.settings import BaselineKind, Settings
from scoregate.core.compare import compare
from scoregate.core.record import Run
from scoregate.core.undecided import undecided

ROUNDS = 2
REPEATS = 2
_NO_BASE = (
    "--repeats auto repeats cases in the run and in its base, so it needs `--baseline rerun`; every case ran once"
)


@dataclass(slots=True)
class _Budget:
    """Trials, of both sides together."""

    left: int

    def take(self, cases: list[str]) -> list[str]:
        """As many of the cases as it allows, in their order."""
        taken = cases[: self.left // (2 * REPEATS)]
        self.left -= 2 * REPEATS * len(taken)
        return taken


async def adapt(run: Run, baseline: Baseline, plan: Plan, settings: Settings, ports: Ports) -> tuple[Run, Baseline]:
    """Both runs with more trials of the cases in which they differ or disagree with themselves.

    A case is chosen by what it shows without regard to the direction, a trial more is always made on both sides, and
    the number of rounds is fixed: so under no change both sides stay exchangeable, and the test keeps its level.
    """
    if settings.baseline_kind is not BaselineKind.RERUN or baseline.run is None:
        return _noted(run, _NO_BASE, ports), baseline
    trials = _trials(run)
    budget = _Budget(int(settings.repeats_budget * trials))
    base = baseline.run
    for number in range(1, ROUNDS + 1):
        chosen = _chosen(run, base, budget)
        if not chosen:
            break
        part = restricted(plan, chosen, repeats=REPEATS)
        more = await ports.record(part, settings, (), folder=f"{RUN_FOLDER}/{EXTRA}{number}")
        more_base = await ports.rerun(part, settings, folder=f"{BASE_FOLDER}/{EXTRA}{number}")
        run = replace(run, extras=(*run.extras, more))
        base = replace(base, extras=(*base.extras, *([more_base.run] if more_base.run else [])))
    whole = 2 * trials * ROUNDS * REPEATS
    spent = sum(map(_trials, (*run.extras, *base.extras)))
    saved = f"{whole - spent:,} of {whole:,} saved that as many of every case would have taken"
    paid = extra_cost((*run.extras, *base.extras))
    told = f"--repeats auto: {spent:,} extra trials, {saved}{f'; they {paid}' if paid else ''}"
    return _noted(run, told, ports), replace(baseline, run=base)


def _trials(run: Run) -> int:
    return sum(len(suite.columns) for suite in run.suites)


def _chosen(run: Run, base: Run, budget: _Budget) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for script, suite, cases in _open(run, base):
        if taken := budget.take(cases):
            found.setdefault(script, {}).setdefault(suite, []).extend(taken)
    return found


def _open(run: Run, base: Run) -> Iterator[tuple[str, str, list[str]]]:
    for at, old in compare(run, base).pairs:
        suite = run.suites[at]
        if suite.script is not None:
            yield suite.script, suite.id, undecided(run, base, at, old)


def _noted(run: Run, notice: str, ports: Ports) -> Run:
    run = replace(run, notices=(*run.notices, notice))
    ports.amend(run)
    return run
