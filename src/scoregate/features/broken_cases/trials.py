"""Fresh trials of the cases that a change may have broken."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from scoregate.features.broken_cases.cases import list_broken_cases
from scoregate.features.broken_cases.declare import choose_mode
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.job.fresh_trials import (
    MOST_CASES,
    FailingCase,
    correct_levels,
    count_rounds,
    find_base_side,
    run_fresh,
)
from scoregate.kernel.job.steps import Work
from scoregate.kernel.run.plan import Plan, SourceKind
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.confirmations import confirmations_of, with_confirmations


async def run_broken_cases(work: Work) -> Work:
    """Run the cases that the change may have broken again, on both sides, unless they did already.

    A suite needs no further proof if a gate already fails for its means.
    """
    known = confirmations_of(work.run)
    cases = _choose_cases(work, {(each.suite, each.case) for each in known})
    if not cases:
        return work
    base = await find_base_side(work)
    rounds = count_rounds(len(cases) + sum(each.level is not None for each in known))
    fresh = await run_fresh(cases, rounds, work, base, name="broken")
    paid = number_format.extra_cost(fresh.runs)
    noticed = f"{number_format.count(len(cases), 'newly failing case')} ran again, up to {rounds} times on each side"
    run = work.run.add_notices(
        f"{noticed}{f'; this {paid}' if paid else ''}.",
        *([f"The base did not run again: {fresh.problem}."] if fresh.problem else []),
    )
    run = with_confirmations(run, correct_levels((*known, *fresh.make_confirmations())))
    work.ports.amend(run)
    return replace(work, run=run)


def _choose_cases(work: Work, known: Collection[tuple[str, str]]) -> list[FailingCase]:
    """The cases, at most 15 of them: then those that come first by their hash, which no result decides."""
    comparison = work.compare(work.run, work.baseline)
    chosen = [each for each in _list_cases(work, comparison) if (each.label, each.case) not in known]
    if chosen and work.run.scope.shard is None:
        findings = work.judge(work.run, work.baseline).verdict.findings
        failed = {each.suite for each in findings if each.conclusion is Conclusion.FAILED and each.is_drop}
        chosen = [each for each in chosen if each.label not in failed]
    return sorted(chosen, key=lambda each: (each.case, each.label))[:MOST_CASES]


def _list_cases(work: Work, comparison: Comparison) -> list[FailingCase]:
    scripts, policy = _list_scripts(work.plan), work.settings.policy()
    return [
        FailingCase.make(suite, case)
        for index, suite in enumerate(comparison.run.suites)
        if suite.script in scripts
        for case in list_broken_cases(comparison, index, choose_mode(policy.limits_of(suite)))
    ]


def _list_scripts(plan: Plan) -> set[str]:
    """The launches that can run single cases: not commands of other test runners, which run all of them."""
    launches = (each for each in plan.launches if not (each.kind is SourceKind.COMMAND and each.source.imports))
    return {launch.name for launch in launches}
