"""Confirmations: newly failing cases run again, until it is decided whether they fail."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from scoregate.features.confirm.declare import Confirm, choose_cases
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.gate.case_rules import CRITICAL
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.judge.settings import BaselineKind, Settings
from scoregate.kernel.run.plan import Plan, restrict_plan
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.confirmations import (
    FAILURES_TO_CONFIRM,
    MOST_TRIES,
    Confirmation,
    is_decided,
    with_confirmations,
)
from scoregate.kernel.types.runs.run import Run, SuiteResult

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
    cases = list(list_failing_cases(comparison, choose_cases(settings)))
    if not cases:
        return run
    tries, runs = await _run_again(cases, plan, settings, ports, in_base=False)
    failing = [case for case in cases if tries[case].count(False) >= FAILURES_TO_CONFIRM]
    base_tries: Tries = {}
    base_runs: Runs = ()
    if failing and settings.baseline_kind is BaselineKind.RERUN:
        base_tries, base_runs = await _run_again(failing, plan, settings, ports, in_base=True)
    confirmations = (Confirmation(c.label, c.case, tries[c], base_tries.get(c, ())) for c in cases)
    paid = number_format.extra_cost((*runs, *base_runs))
    notices = (*run.notices, *([f"--confirm: running cases again {paid}"] if paid else []))
    run = with_confirmations(replace(run, notices=notices), confirmations)
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
