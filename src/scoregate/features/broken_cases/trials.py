"""Fresh trials of the cases that a change may have broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from scoregate.features.broken_cases.cases import list_broken_cases
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.job.fresh_trials import MOST_CASES, FailingCase, count_rounds, find_base_side, run_fresh
from scoregate.kernel.job.steps import Work
from scoregate.kernel.judge.policy import choose_policy
from scoregate.kernel.judge.settings.limit_fields import replays_calls
from scoregate.kernel.run.plan import Plan, SourceKind
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.confirmations import confirmations_of, with_confirmations


async def run_broken_cases(work: Work) -> Work:
    """Run the cases that the change may have broken again, on both sides, unless they did already.

    A suite needs no further proof if a gate already fails for its means. Recorded answers are no further trials.
    """
    cases = [] if replays_calls(work.settings) else _list_cases(work)
    if not cases:
        return work
    tried = cases[:MOST_CASES]
    base, rounds = await find_base_side(work), count_rounds(len(tried))
    fresh = await run_fresh(tried, rounds, work, base, name="broken")
    run = work.run.add_notices(*_describe(fresh.problem, len(cases), len(tried), rounds))
    paid = number_format.extra_cost(fresh.runs)
    run = run.add_notices(*([f"Running newly failing cases again {paid}."] if paid else []))
    run = with_confirmations(run, (*confirmations_of(run), *fresh.make_confirmations()))
    work.ports.amend(run)
    return replace(work, run=run)


def _describe(problem: str, found: int, tried: int, rounds: int) -> Iterator[str]:
    count = number_format.count(tried, "newly failing case")
    left_out = f" (of {found:,}, the others did not)" if found > tried else ""
    yield f"{count} ran again{left_out}, up to {rounds} times{'' if problem else ' on each side'}."
    if problem:
        yield f"The base did not run again: {problem}."


def _list_cases(work: Work) -> list[FailingCase]:
    """The cases that did not run again yet: one of each suite in turn, by their hashes, which no result decides."""
    base = None if work.baseline.implicit else work.baseline.run
    policy, scripts = choose_policy(work.settings, base).policy, _list_scripts(work.plan)
    comparison, known = work.compare(work.run, work.baseline), {(c.suite, c.case) for c in confirmations_of(work.run)}
    failed, uncalibrated = _find_judged(work, comparison)
    found = [
        FailingCase.make(suite, each.case, each.ignored)
        for index, suite in enumerate(comparison.run.suites)
        if suite.script in scripts and suite.label not in failed
        for each in list_broken_cases(comparison, index, policy.limits_of(suite), uncalibrated.get(suite.label, ()))
        if (suite.label, each.case) not in known
    ]
    return _take_in_turn(sorted(found, key=lambda each: (each.case, each.label)))


def _take_in_turn(cases: list[FailingCase]) -> list[FailingCase]:
    places, before = dict[FailingCase, int](), Counter[str]()
    for case in cases:
        places[case] = before[case.label]
        before[case.label] += 1
    return sorted(cases, key=places.__getitem__)


def _find_judged(work: Work, comparison: Comparison) -> tuple[set[str], Mapping[str, set[str]]]:
    """The suites whose means fail a gate, and the evaluators that don't count, by suite; a shard knows neither."""
    uncalibrated = dict[str, set[str]]()
    if not comparison.newly_failing or work.run.scope.shard is not None:
        return set(), uncalibrated
    verdict = work.judge(work.run, work.baseline).verdict
    for suite, evaluator in verdict.uncalibrated:
        uncalibrated.setdefault(suite, set()).add(evaluator)
    drops = (each for each in verdict.findings if each.conclusion is Conclusion.FAILED and each.is_drop)
    return {each.suite for each in drops if each.suite is not None}, uncalibrated


def _list_scripts(plan: Plan) -> set[str]:
    """The launches that can run single cases: not commands of other test runners, which run all of them."""
    launches = (each for each in plan.launches if not (each.kind is SourceKind.COMMAND and each.source.imports))
    return {launch.name for launch in launches}
