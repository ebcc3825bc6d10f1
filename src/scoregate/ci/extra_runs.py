"""Extra runs: adaptive repeats of undecided cases, and confirmations of new failures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from scoregate.ci.archive import BASE_FOLDER, EXTRA, RUN_FOLDER
from scoregate.ci.baseline import Baseline
from scoregate.ci.plan import Plan, restrict_plan
from scoregate.ci.ports import Ports
from scoregate.ci.report import number_format
from scoregate.ci.settings import BaselineKind, Confirm, Settings
from scoregate.core.comparison.comparison import Comparison, compare
from scoregate.core.comparison.pairing import find_undecided_cases
from scoregate.core.comparison.quarantine import leave_out_quarantine
from scoregate.core.exemptions import Exemptions
from scoregate.core.gate.case_rules import CRITICAL
from scoregate.core.records import record
from scoregate.core.runs.cases import Status
from scoregate.core.runs.evidence import Use
from scoregate.core.runs.run import FAILURES_TO_CONFIRM, MOST_TRIES, Confirmation, Run, SuiteResult, is_decided
from scoregate.core.runs.run_costs import sum_costs


def describe_extra_cost(runs: Iterable[Run | None]) -> str:
    """The cost as text; empty if no price is known or nothing was paid."""
    costs = [cost for run in runs if run is not None and (cost := sum_costs(run)) is not None]
    return f"cost {number_format.cost(sum(costs))} beyond the run's own figures" if sum(costs) else ""


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


async def repeat_undecided_cases(
    run: Run, baseline: Baseline, plan: Plan, settings: Settings, ports: Ports, *, exemptions: Exemptions
) -> tuple[Run, Baseline]:
    """Both runs with more trials of the cases in which they differ, or whose repeats differ, unless in quarantine.

    Cases are chosen without regard to the direction of the difference, extra trials always run on both sides, and the
    number of rounds is fixed. So both sides stay exchangeable if nothing changed, and the test keeps its level.
    """
    if settings.baseline_kind is not BaselineKind.RERUN or baseline.run is None:
        return _with_notice(run, _NO_BASE, ports), baseline
    trials = _count_trials(run)
    budget = _Budget(int(settings.repeats_budget * trials))
    base = baseline.run
    for number in range(1, ROUNDS + 1):
        chosen: dict[str, dict[str, list[str]]] = {}  # hashes by script and suite id
        for (script, suite), undecided in _list_undecided_cases(run, base, exemptions).items():
            if cases := budget.take(undecided):
                chosen.setdefault(script, {})[suite] = cases
        if not chosen:
            break
        part = restrict_plan(plan, chosen, repeats=REPEATS)
        more = await ports.record(part, settings, (), folder=f"{RUN_FOLDER}/{EXTRA}{number}")
        more_base = await ports.rerun(part, settings, folder=f"{BASE_FOLDER}/{EXTRA}{number}")
        if more_base.run is None:  # extra trials of one side alone would be no fair comparison
            problem = f"--repeats auto stopped in round {number}, whose trials don't count: {more_base.note}"
            run = replace(run, notices=(*run.notices, problem))
            break
        run = replace(run, extras=(*run.extras, more))
        base = replace(base, extras=(*base.extras, more_base.run))
    most = 2 * trials * ROUNDS * REPEATS
    spent = sum(map(_count_trials, (*run.extras, *base.extras)))
    saved = f"{most - spent:,} fewer than the {most:,} that repeating every case takes"
    paid = describe_extra_cost((*run.extras, *base.extras))
    notice = f"--repeats auto: {spent:,} extra trials, {saved}{f'; they {paid}' if paid else ''}"
    return _with_notice(run, notice, ports), replace(baseline, run=base)


def _list_undecided_cases(run: Run, base: Run, exemptions: Exemptions) -> dict[tuple[str, str], dict[str, int]]:
    """The undecided cases by script and suite id, with the number of trials that repeating each takes on both sides.

    A case that is undecided in one variant of its suite is repeated in all of them. A suite that sets its repeats keeps
    them.
    """
    sides = leave_out_quarantine(run, base, (), exemptions)
    comparison = compare(sides.run, sides.base)
    found: dict[tuple[str, str], dict[str, int]] = {}
    for index, base_index in comparison.pairs_for(Use.REPEATS):
        suite = run.suites[index]
        if suite.script is not None:
            undecided = find_undecided_cases(sides.run, comparison.base or base, index, base_index)
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
    run = replace(run, notices=(*run.notices, notice))
    ports.amend(run)
    return run


MOST_CASES = 15


@record
class FailingCase:
    """A newly failing case, identified by its launch, suite, parameters and hash."""

    label: str
    script: str
    suite: str
    params: str
    case: str


Tries = dict[FailingCase, tuple[bool, ...]]
Runs = tuple[Run | None, ...]


async def confirm_failures(run: Run, comparison: Comparison, plan: Plan, settings: Settings, ports: Ports) -> Run:
    """Run newly failing cases of a comparison again; returns the run with the results of these tries."""
    cases = list(list_failing_cases(comparison, settings.confirmed_cases))
    if not cases:
        return run
    tries, runs = await _run_again(cases, plan, settings, ports, in_base=False)
    failing = [case for case in cases if tries[case].count(False) >= FAILURES_TO_CONFIRM]
    base_tries: Tries = {}
    base_runs: Runs = ()
    if failing and settings.baseline_kind is BaselineKind.RERUN:
        base_tries, base_runs = await _run_again(failing, plan, settings, ports, in_base=True)
    confirmations = (Confirmation(c.label, c.case, tries[c], base_tries.get(c, ())) for c in cases)
    paid = describe_extra_cost((*runs, *base_runs))
    notices = (*run.notices, *([f"--confirm: running cases again {paid}"] if paid else []))
    run = replace(run, confirmations=tuple(confirmations), notices=notices)
    ports.amend(run)
    return run


def list_failing_cases(comparison: Comparison, mode: Confirm) -> Iterator[FailingCase]:
    """The critical ones first, up to the limit."""
    if mode is Confirm.OFF:
        return
    flips = [(comparison.run.suites[flip.suite], flip.row) for flip in comparison.newly_failing]
    critical = [flip for flip in flips if CRITICAL in flip[0].columns.tags.get(flip[1], ())]
    others = [flip for flip in flips if flip not in critical] if mode is Confirm.ALL else []
    cases = dict.fromkeys(
        FailingCase(suite.label, suite.script or "", suite.id, _params_json(suite), suite.columns.hashes[row])
        for suite, row in (*critical, *others)
    )
    yield from list(cases)[:MOST_CASES]


def _params_json(suite: SuiteResult) -> str:
    return json.dumps(dict(suite.params or {}), sort_keys=True, default=str)


async def _run_again(
    cases: Sequence[FailingCase], plan: Plan, settings: Settings, ports: Ports, *, in_base: bool
) -> tuple[Tries, Runs]:
    """Try each case until it is decided, at most four times: three times at once, then once more.

    A case that sets its own number of repeats, or has errors, may take more rounds.
    """
    tries: Tries = dict.fromkeys(cases, ())
    runs: Runs = ()
    for number in range(1, MOST_TRIES + 1):
        undecided = [case for case in cases if not is_decided(tries[case])]
        if not undecided:
            break
        hashes: dict[str, dict[str, list[str]]] = {}
        for case in undecided:
            hashes.setdefault(case.script, {}).setdefault(case.suite, []).append(case.case)
        part = restrict_plan(plan, hashes, repeats=FAILURES_TO_CONFIRM if number == 1 else 1)
        folder = f"confirm{'-base' if in_base else ''}-{number}"
        if in_base:
            run = (await ports.rerun(part, settings, folder=folder)).run
        else:
            run = await ports.record(part, settings, (), folder=folder)
        runs = (*runs, run)
        for case in undecided:
            tries[case] = (*tries[case], *_outcomes(run, case))[:MOST_TRIES]
    return tries, runs


def _outcomes(run: Run | None, case: FailingCase) -> Iterator[bool]:
    """Whether each try passed; a try with an error does not count."""
    for suite in run.suites if run is not None else ():
        if (suite.script, suite.id, _params_json(suite)) == (case.script, case.suite, case.params):
            for row, case_hash in enumerate(suite.columns.hashes):
                if case_hash == case.case and suite.columns.status(row) in (Status.PASSED, Status.FAILED):
                    yield suite.columns.status(row) is Status.PASSED
