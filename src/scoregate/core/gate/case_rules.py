"""Rules about single cases of a suite, compared with the baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from scoregate.core.cases import Columns, Status
from scoregate.core.comparison import Comparison
from scoregate.core.distributions import binomial_half_cdf
from scoregate.core.exemptions import AcceptedRegression, matches_case
from scoregate.core.gate.finding import Conclusion, Finding, SuiteContext
from scoregate.core.policy import matches_suite
from scoregate.core.run import ConfirmationOutcome, SuiteResult

CRITICAL = "critical"
_CONCLUSIONS = {ConfirmationOutcome.CONFIRMED: Conclusion.FAILED, ConfirmationOutcome.OPEN: Conclusion.UNMEASURABLE}
_MOST_NAMES = 5
_JUDGED = (Status.PASSED, Status.FAILED)


def check_critical_cases(context: SuiteContext) -> Iterator[Finding]:
    """No critical case is newly failing, unless further tries clear it. A case is critical if either side tags it so.

    So a change can't remove the tag of a case that it breaks.
    """
    if not context.limits.fail_on_critical:
        return
    comparison, suite, base = context.comparison, context.suite, context.base_suite
    confirmations = {each.case: each for each in comparison.run.confirmations if each.suite == suite.label}
    for flip in comparison.newly_failing:
        if flip.suite != context.index:
            continue
        base_tags = () if base is None else base.columns.tags.get(flip.base_row, ())
        if CRITICAL not in (*suite.columns.tags.get(flip.row, ()), *base_tags):
            continue
        case = suite.columns.hashes[flip.row]
        outcome, tries = ConfirmationOutcome.CONFIRMED, "not run again"
        if (confirmation := confirmations.get(case)) is not None:
            outcome = confirmation.outcome
            failures, count = confirmation.tries.count(False), len(confirmation.tries)
            tries = f"{outcome}: failed {failures} of {count} further tries"
        entry = find_accepted_case(comparison, suite, case)
        accepted = "" if entry is None else f"; accepted {entry.terms}"
        yield Finding(
            "critical case",
            Conclusion.PASSED if entry is not None else _CONCLUSIONS.get(outcome, Conclusion.PASSED),
            f"{case} newly fails ({tries}; {_describe_base_trials(case, base)}){accepted}",
            "no critical case newly fails",
            context.limits.find_origin("fail_on_critical"),
            suite.label,
        )


def find_accepted_case(comparison: Comparison, suite: SuiteResult, case: str) -> AcceptedRegression | None:
    """The entry that accepts that a critical case fails."""
    entries = comparison.exemptions.active_accepted
    return next((e for e in entries if e.case and matches_suite(suite, e.suite) and matches_case(e.case, [case])), None)


def _describe_base_trials(case: str, base: SuiteResult | None) -> str:
    """How often the case failed in the baseline; unknown for less than two trials."""
    columns = Columns() if base is None else base.columns
    statuses = [columns.status(row) for row, known in enumerate(columns.hashes) if known == case]
    if len(statuses) < 2:
        return "how often it failed before is unknown"
    return f"in the baseline it failed {statuses.count(Status.FAILED)} of {len(statuses)} trials"


def check_critical_cases_remain(context: SuiteContext) -> Iterator[Finding]:
    """Critical cases that passed in the baseline pass or fail in the run, and critical cases don't get fewer."""
    base = context.base_suite
    if not context.limits.fail_on_critical or base is None or context.comparison.run.selection:
        return
    if not context.suite.complete:  # reported once, for the suite
        return
    tagged, base_tagged = _find_critical_cases(context.suite.columns), _find_critical_cases(base.columns)
    outcomes, base_outcomes = _find_outcomes(context.suite.columns), _find_outcomes(base.columns)
    unmeasured = [
        case
        for case in dict.fromkeys((*base_tagged, *tagged))
        if case in outcomes and not outcomes[case] & {*_JUDGED} and Status.PASSED in base_outcomes.get(case, ())
    ]
    if unmeasured:
        names = _list_names(unmeasured)
        yield _not_measured(context, f"{names} passed in the baseline, and met an error or got no score that decides")
    gone = [case for case in base_tagged if case not in outcomes]
    added = sum(case not in base_outcomes for case in tagged)
    if len(gone) > added:  # as many new ones are the same cases with another input
        what = "critical case" if len(gone) == 1 else "critical cases"
        instead = f", and {added:,} are new" if added else ""
        yield _not_measured(context, f"{len(gone):,} {what} of the baseline are gone: {_list_names(gone)}{instead}")


def _not_measured(context: SuiteContext, value: str) -> Finding:
    origin = context.limits.find_origin("fail_on_critical")
    limit = "every critical case of the baseline"
    return Finding("critical cases remain", Conclusion.UNMEASURABLE, value, limit, origin, context.suite.label)


def _find_critical_cases(columns: Columns) -> list[str]:
    rows = (row for row, tags in columns.tags.items() if CRITICAL in tags)
    return list(dict.fromkeys(columns.hashes[row] for row in rows))


def _find_outcomes(columns: Columns) -> dict[str, set[Status]]:
    outcomes: dict[str, set[Status]] = {}
    for row, case in enumerate(columns.hashes):
        outcomes.setdefault(case, set()).add(columns.status(row))
    return outcomes


def _list_names(cases: Sequence[str]) -> str:
    names = ", ".join(cases[:_MOST_NAMES])
    more = len(cases) - _MOST_NAMES
    return f"{names} and {more:,} more" if more > 0 else names


def check_new_errors(context: SuiteContext) -> Iterator[Finding]:
    """Not significantly more cases meet errors than in the baseline, if a relative gate depends on their scores.

    A case with an error has no score, so without this rule a change that breaks one case in thirty stays green. The
    cases that meet an error on one side only are compared by an exact one-sided sign test, at half of alpha, divided
    by the number of suites (Bonferroni). A difference below `min_effect` (as a share of the cases) doesn't count.
    """
    limits, base, criteria = context.limits, context.base_suite, context.criteria
    if base is None or not (limits.fail_on_regression or limits.max_drop or limits.fail_on_critical):
        return
    if not context.suite.columns.errored_rows():
        return
    shares, base_shares = _measure_errors(context.suite.columns), _measure_errors(base.columns)
    both = shares.keys() & base_shares.keys()
    new = sum(shares[case] > base_shares[case] for case in both)
    fixed = sum(shares[case] < base_shares[case] for case in both)
    alpha = criteria.alpha / 2 / max(1, len(context.comparison.measured_pairs))
    if new - fixed < max(1.0, criteria.min_effect * len(both)):
        return
    p = binomial_half_cdf(fixed, new + fixed)
    if p > alpha:
        return
    value = f"{new:,} of {len(both):,} cases newly meet an error, {fixed:,} don't any more"
    limit = "no more errors than in the baseline"
    yield Finding("new errors", Conclusion.UNMEASURABLE, value, limit, "always", context.suite.label)


def _measure_errors(columns: Columns) -> dict[str, float]:
    """The share of each case's trials that met an error."""
    errored, total = Counter[str](), Counter[str](columns.hashes)
    for row in columns.errored_rows():
        errored[columns.hashes[row]] += 1
    return {case: errored[case] / count for case, count in total.items()}
