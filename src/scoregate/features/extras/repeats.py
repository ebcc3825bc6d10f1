"""Adaptive repeats: more trials of the cases that leave a comparison undecided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from scoregate.features.extras.declare import REPEATS_BUDGET
from scoregate.kernel.compare.pairing import find_undecided_cases
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.steps import Work
from scoregate.kernel.judge.archive import BASE_FOLDER, EXTRA, RUN_FOLDER
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import BaselineKind
from scoregate.kernel.run.plan import restrict_plan
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.evidence import TrialRole, Use
from scoregate.kernel.types.runs.run import Run

ROUNDS = 2
REPEATS = 2
_NO_BASE = (
    "--repeats auto repeats cases in the run and in its baseline, so it needs `--baseline rerun`; every case ran once"
)


@dataclass(slots=True)
class _Budget:
    """The number of extra trials, of run and base together."""

    left: int

    def take(self, cases: Mapping[str, int]) -> list[str]:
        """As many of the cases as the budget allows, in their order. Each has the number of its trials."""
        chosen = []
        for case, trials in cases.items():
            if trials > self.left:
                break
            self.left -= trials
            chosen.append(case)
        return chosen


async def repeat_undecided_cases(work: Work) -> tuple[Run, Baseline]:
    """Both runs with more trials of the cases in which they differ, or whose repeats differ, unless in quarantine.

    Cases are chosen without regard to the direction of the difference, extra trials always run on both sides, and the
    number of rounds is fixed. So both sides stay exchangeable if nothing changed, and the test keeps its level.
    """
    run, baseline, settings, ports = work.run, work.baseline, work.settings, work.ports
    if settings.baseline_kind is not BaselineKind.RERUN or baseline.run is None:
        return _with_notice(run, _NO_BASE, ports), baseline
    trials = _count_trials(run)
    budget = _Budget(int(REPEATS_BUDGET.of(settings) * trials))
    base = baseline.run
    for number in range(1, ROUNDS + 1):
        chosen: dict[str, dict[str, list[str]]] = {}  # hashes by script and suite id
        for (script, suite), undecided in _list_undecided_cases(work, run, base).items():
            if cases := budget.take(undecided):
                chosen.setdefault(script, {})[suite] = cases
        if not chosen:
            break
        part = restrict_plan(work.plan, chosen, repeats=REPEATS)
        more = await ports.record(part, settings, (), folder=f"{RUN_FOLDER}/{EXTRA}{number}")
        more_base = await ports.rerun(part, settings, folder=f"{BASE_FOLDER}/{EXTRA}{number}")
        if more_base.run is None:  # extra trials of one side alone would be no fair comparison
            problem = f"--repeats auto stopped in round {number}, whose trials don't count: {more_base.note}"
            run = run.add_notices(problem)
            break
        run = run.add_companion(TrialRole.EXTRA, more)
        base = base.add_companion(TrialRole.EXTRA, more_base.run)
    most = 2 * trials * ROUNDS * REPEATS
    extras = (*run.companions_of(TrialRole.EXTRA), *base.companions_of(TrialRole.EXTRA))
    spent = sum(map(_count_trials, extras))
    saved = f"{most - spent:,} fewer than the {most:,} that repeating every case takes"
    paid = number_format.extra_cost(extras)
    notice = f"--repeats auto: {spent:,} extra trials, {saved}{f'; they {paid}' if paid else ''}"
    return _with_notice(run, notice, ports), replace(baseline, run=base)


def _list_undecided_cases(work: Work, run: Run, base: Run) -> dict[tuple[str, str], dict[str, int]]:
    """The undecided cases by script and suite id, with the number of trials that repeating each takes on both sides.

    A case that is undecided in one variant of its suite is repeated in all of them. A suite that sets its repeats keeps
    them.
    """
    comparison = work.compare(run, replace(work.baseline, run=base))
    found: dict[tuple[str, str], dict[str, int]] = {}
    for index, base_index in comparison.pairs_for(Use.REPEATS):
        suite = run.suites[index]
        if suite.script is not None:
            undecided = find_undecided_cases(comparison.run, comparison.base or base, index, base_index)
            found.setdefault((suite.script, suite.id), {}).update(dict.fromkeys(undecided, 0))
    for suite in run.suites:
        cases = found.get((suite.script or "", suite.id), {})
        for case, number in Counter(suite.columns.hashes).items():
            if case in cases:
                cases[case] += 2 * (number if number > 1 else REPEATS)
    return found


def _count_trials(run: Run) -> int:
    return sum(len(suite.columns) for suite in run.suites)


def _with_notice(run: Run, notice: str, ports: Ports) -> Run:
    run = run.add_notices(notice)
    ports.amend(run)
    return run
