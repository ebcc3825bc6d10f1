"""Rules about single cases of a suite, compared with the baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import partial

from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.estimates import one_sided_p
from scoregate.kernel.compare.flips import Flip
from scoregate.kernel.compare.pairing import Side, case_clusters, pair_sides
from scoregate.kernel.compare.statistics.significance import exact_sign_flip_p
from scoregate.kernel.gate.finding import Finding, SuiteContext
from scoregate.kernel.types.amounts import Conclusion, reaches
from scoregate.kernel.types.declarations.kernel import CRITICAL_CASE, CRITICAL_CASES_REMAIN, NEW_ERRORS
from scoregate.kernel.types.exemptions import AcceptedRegression, matches_case
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.case_means import TrialValue
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.confirmations import Confirmation, ConfirmationOutcome, confirmations_of
from scoregate.kernel.types.runs.evidence import TrialRole, Use, does_count
from scoregate.kernel.types.runs.policy import matches_suite
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.text import sort_by_name

CRITICAL = "critical"
_CONCLUSIONS = {ConfirmationOutcome.CONFIRMED: Conclusion.FAILED, ConfirmationOutcome.OPEN: Conclusion.UNMEASURABLE}
_MOST_NAMES, _LONGEST_NAME = 5, 80
_ROUNDING = 1e-9
_JUDGED = (Status.PASSED, Status.FAILED)


def check_critical_cases(context: SuiteContext) -> Iterator[Finding]:
    """No critical case is newly failing, unless further tries clear it. A case is critical if either side tags it so.

    So a change can't remove the tag of a case that it breaks.
    """
    comparison, suite, base = context.comparison, context.suite, context.base_suite
    if base is None or not context.limits.fail_on_critical:
        return
    confirmations = find_confirmations(context)
    cases = list(sort_by_name(dict.fromkeys(_find_newly_failing(context))))  # they finish in any order
    names = read_names(comparison.run, context.index, cases)
    for case in cases:
        outcome, tries = ConfirmationOutcome.CONFIRMED, "not run again"
        if (confirmation := confirmations.get(case)) is not None:
            outcome, tries = confirmation.outcome, _describe_tries(confirmation)
        entry = find_accepted_case(comparison, suite, case)
        accepted = "" if entry is None else f"; accepted {entry.terms}"
        yield Finding(
            CRITICAL_CASE,
            Conclusion.PASSED if entry is not None else _CONCLUSIONS.get(outcome, Conclusion.PASSED),
            f"{names[case]} newly fails ({tries}; {_describe_base_trials(case, base.columns)}){accepted}",
            "no critical case newly fails",
            context.limits.find_origin("fail_on_critical"),
            suite.label,
        )


def find_confirmations(context: SuiteContext) -> dict[str, Confirmation]:
    """The cases of the suite that ran again, by hash."""
    known = confirmations_of(context.comparison.run) if does_count(TrialRole.RETRY, Use.FAILURES) else ()
    return {each.case: each for each in known if each.suite == context.suite.label}


def _describe_tries(confirmation: Confirmation) -> str:
    """How often a case failed again: `confirmed: failed 8 of 8 further tries, and 0 of 8 in the baseline`."""
    failures, base = confirmation.tries.count(False), confirmation.base_tries
    text = f"{confirmation.outcome}: failed {failures} of {len(confirmation.tries)} further tries"
    return f"{text}, and {base.count(False)} of {len(base)} in the baseline" if base else text


def _find_newly_failing(context: SuiteContext) -> Iterator[str]:
    """The critical cases of the suite that newly fail."""
    for flip in context.comparison.newly_failing:
        if flip.suite == context.index and is_critical(context.comparison, flip):
            yield context.suite.columns.hashes[flip.row]


def is_critical(comparison: Comparison, flip: Flip) -> bool:
    """Whether either side tags a case so. A change can't remove the tag of a case that it breaks."""
    own, base = comparison.run.suites[flip.suite].columns, comparison.base
    before = () if base is None else base.suites[flip.base_suite].columns.tags.get(flip.base_row, ())
    return CRITICAL in (*own.tags.get(flip.row, ()), *before)


def read_names(run: Run, suite: int, cases: Sequence[str]) -> dict[str, str]:
    """How findings call cases: by name and hash. Names are on disk only, so they are read if there is a finding.

    Args:
        run: the run with the cases.
        suite: the index of their suite.
        cases: their hashes; a case that the record lacks is called by its hash.
    """
    names, wanted = {case: case for case in cases}, set(cases)
    for case in run.cases if wanted else ():
        if case.suite == suite and case.hash in wanted:
            wanted.remove(case.hash)
            if case.name and case.name != case.hash:
                names[case.hash] = f"{case.name:.{_LONGEST_NAME}} ({case.hash})"
            if not wanted:
                break
    return names


def find_accepted_case(comparison: Comparison, suite: SuiteResult, case: str) -> AcceptedRegression | None:
    """The entry that accepts that a critical case fails."""
    entries = comparison.exemptions.active_accepted
    return next((e for e in entries if e.case and matches_suite(suite, e.suite) and matches_case(e.case, [case])), None)


def _describe_base_trials(case: str, columns: Columns) -> str:
    """How often the case failed in the baseline; unknown for less than two trials."""
    statuses = [columns.status(row) for row, known in enumerate(columns.hashes) if known == case]
    if len(statuses) < 2:
        return "how often it failed before is unknown"
    return f"in the baseline it failed {statuses.count(Status.FAILED)} of {len(statuses)} trials"


def check_critical_cases_remain(context: SuiteContext) -> Iterator[Finding]:
    """Critical cases that passed in the baseline pass or fail in the run, and critical cases don't get fewer.

    A new critical case may be one that is gone, with another input. If one that is gone passed in the baseline, only a
    new one that passes can replace it: otherwise the change could have broken it.
    """
    base = context.base_suite
    if not context.limits.fail_on_critical or base is None or context.comparison.run.scope.selection:
        return
    if not context.suite.complete:  # reported once, for the suite
        return
    tagged, base_tagged = _find_critical_cases(context.suite.columns), _find_critical_cases(base.columns)
    outcomes, base_outcomes = _find_outcomes(context.suite.columns), _find_outcomes(base.columns)
    unmeasured = [
        case
        for case in dict.fromkeys((*base_tagged, *tagged))
        if case in outcomes and not outcomes[case].keys() & {*_JUDGED} and Status.PASSED in base_outcomes.get(case, ())
    ]
    if unmeasured:
        names = _list_names(unmeasured, context.comparison.run, context.index)
        yield _not_measured(context, f"{names} passed in the baseline, and met an error or got no score that decides")
    gone = [case for case in base_tagged if case not in outcomes]
    added = [case for case in tagged if case not in base_outcomes]
    passing = [case for case in added if _has_passed(outcomes[case])]
    replacements = passing if any(Status.PASSED in base_outcomes[case] for case in gone) else added
    if context.comparison.base is not None and len(gone) > len(replacements):
        subject = "critical case of the baseline is" if len(gone) == 1 else "critical cases of the baseline are"
        verb = "is" if len(added) == 1 else "are"
        instead = f"; {len(added):,} {verb} new, and {len(passing):,} of the new ones pass" if added else ""
        names = _list_names(gone, context.comparison.base, dict(context.comparison.pairs)[context.index])
        yield _not_measured(context, f"{len(gone):,} {subject} gone: {names}{instead}")


def _not_measured(context: SuiteContext, value: str) -> Finding:
    origin = context.limits.find_origin("fail_on_critical")
    limit = "every critical case of the baseline"
    return Finding(CRITICAL_CASES_REMAIN, Conclusion.UNMEASURABLE, value, limit, origin, context.suite.label)


def _find_critical_cases(columns: Columns) -> list[str]:
    rows = (row for row, tags in columns.tags.items() if CRITICAL in tags)
    return list(dict.fromkeys(columns.hashes[row] for row in rows))


def _find_outcomes(columns: Columns) -> dict[str, Counter[Status]]:
    """How many trials of each case have which status."""
    outcomes: dict[str, Counter[Status]] = {}
    for row, case in enumerate(columns.hashes):
        outcomes.setdefault(case, Counter())[columns.status(row)] += 1
    return outcomes


def _has_passed(outcomes: Counter[Status]) -> bool:
    """Whether more trials of a case passed than failed, as for `find_flips`."""
    return outcomes[Status.PASSED] > outcomes[Status.FAILED]


def _list_names(cases: Sequence[str], run: Run, suite: int) -> str:
    """The first cases by hash, whatever the order in which they finished."""
    cases = list(sort_by_name(dict.fromkeys(cases)))
    names = ", ".join(read_names(run, suite, cases[:_MOST_NAMES]).values())
    more = len(cases) - _MOST_NAMES
    return f"{names} and {more:,} more" if more > 0 else names


def check_new_errors(context: SuiteContext) -> Iterator[Finding]:
    """Not significantly more cases meet errors than in the baseline, if a relative gate depends on their scores.

    A case with an error has no score, so without this rule a change that breaks one case in thirty stays green. Each
    case's share of trials with an error is compared as scores are, so that clusters and unequal numbers of trials
    count: one-sided, at half of alpha, divided by the number of suites (Bonferroni). An increase of the mean share
    below `min_effect` doesn't count. `benchmarks/calibration_errors.py` simulates it.
    """
    limits, base, criteria, columns = context.limits, context.base_suite, context.criteria, context.suite.columns
    if base is None or not (limits.fail_on_regression or limits.max_drop or limits.fail_on_critical):
        return
    if not context.errored:
        return
    new = Side.from_reader(partial(_flag_errors, columns, context.errored))
    pairs = pair_sides(
        new, Side.from_reader(partial(_flag_errors, base.columns, base.columns.errored_rows())), case_clusters(columns)
    )
    if not reaches((pairs.mean or 0.0) - (pairs.base or 0.0), max(criteria.min_effect, _ROUNDING)):
        return
    exact = exact_sign_flip_p(pairs.sums)
    p = max(one_sided_p(pairs)[1], 0.0 if exact is None else exact[1])
    if p > criteria.alpha / 2 / max(1, len(context.comparison.pairs_for(Use.TEST))):
        return
    value = f"{pairs.rose:,} of {pairs.n:,} cases newly meet an error, {pairs.fell:,} don't any more"
    limit = "no more errors than in the baseline"
    yield Finding(NEW_ERRORS, Conclusion.UNMEASURABLE, value, limit, "always", context.suite.label)


def _flag_errors(columns: Columns, errored: Collection[int]) -> Iterator[TrialValue]:
    """1 for each trial that met an error, 0 for each other one."""
    return ((case, columns.repeats[row], float(row in errored)) for row, case in enumerate(columns.hashes))
