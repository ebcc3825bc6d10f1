"""Confirmations: newly failing cases run again, until it is decided whether they fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scoregate.features.confirm.declare import Confirm, choose_cases
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.flips import Flip, find_changed_evaluators
from scoregate.kernel.gate.case_rules import is_critical
from scoregate.kernel.job.fresh_trials import (
    MOST_CASES,
    FailingCase,
    find_base_side,
    list_outcomes,
    run_cases,
    run_fresh,
)
from scoregate.kernel.job.steps import Work
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.confirmations import (
    FAILURES_TO_CONFIRM,
    MOST_TRIES,
    Confirmation,
    is_decided,
    with_confirmations,
)
from scoregate.kernel.types.runs.run import Run

ROUNDS = 8
"""How often a case runs on each side, if the base can run."""


async def confirm_failures(work: Work, comparison: Comparison) -> Run:
    """Run newly failing cases of a comparison again; returns the run with the results of these tries."""
    run, cases = work.run, list(list_failing_cases(comparison, choose_cases(work.settings)))
    if not cases:
        return run
    base, problems = await find_base_side(work), list[str]()
    if base.settings is None:
        confirmations, runs = await _count_tries(cases, work)
    else:
        fresh = await run_fresh(cases, ROUNDS, work, base, name="confirm")
        confirmations, runs = fresh.make_confirmations(), fresh.runs
        if fresh.problem:
            problems.append(f"--confirm: the base did not run again: {fresh.problem}")
            confirmations, more = await _count_tries(cases, work)
            runs = [*runs, *more]
    paid = number_format.extra_cost(runs)
    run = run.add_notices(*problems, *([f"--confirm: running cases again {paid}"] if paid else []))
    run = with_confirmations(run, confirmations)
    work.ports.amend(run)
    return run


def list_failing_cases(comparison: Comparison, mode: Confirm) -> Iterator[FailingCase]:
    """The critical ones first, up to the limit."""
    if mode is Confirm.OFF:
        return
    flips = comparison.newly_failing
    critical = [flip for flip in flips if is_critical(comparison, flip)]
    others = [flip for flip in flips if flip not in critical] if mode is Confirm.ALL else []
    yield from (_make_case(comparison, flip) for flip in (*critical, *others)[:MOST_CASES])


def _make_case(comparison: Comparison, flip: Flip) -> FailingCase:
    suite, base = comparison.run.suites[flip.suite], comparison.base
    changed = set[str]() if base is None else find_changed_evaluators(suite, base.suites[flip.base_suite])
    return FailingCase.make(suite, suite.columns.hashes[flip.row], changed)


async def _count_tries(cases: Sequence[FailingCase], work: Work) -> tuple[list[Confirmation], list[Run]]:
    """Try each case until it is decided, at most four times: three times at once, then once more.

    A case that sets its own number of repeats, or has errors, may take more rounds.
    """
    tries: dict[FailingCase, tuple[bool, ...]] = dict.fromkeys(cases, ())
    runs = list[Run]()
    for number in range(1, MOST_TRIES + 1):
        undecided = [case for case in cases if not is_decided(tries[case])]
        if not undecided:
            break
        repeats = FAILURES_TO_CONFIRM if number == 1 else 1
        runs.append(await run_cases(undecided, work, repeats=repeats, folder=f"confirm-{number}"))
        for case in undecided:
            tries[case] = (*tries[case], *list_outcomes(runs[-1], case))[:MOST_TRIES]
    return [Confirmation(each.label, each.case, tries[each]) for each in cases], runs
