"""The gate rule of `fail_on_broken_cases`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scoregate.features.broken_cases.cases import list_broken_cases
from scoregate.features.broken_cases.declare import FAIL_ON_BROKEN_CASES, RULE
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.gate.case_rules import find_confirmations, read_names
from scoregate.kernel.gate.finding import Finding, SuiteContext
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.confirmations import Confirmation, ConfirmationOutcome
from scoregate.kernel.types.runs.policy import Limits
from scoregate.kernel.types.text import sort_by_name

_MOST_NAMES = 5
_LIMIT = "no case that passed fails"


def check_broken_cases(context: SuiteContext) -> Iterator[Finding]:
    """No case that the limit asks about fails in fresh trials and passes in those of the base.

    If `fail_on_regression` alone asks, a suite that can't run single cases has no finding, and neither has a run that
    was made before. Where the base could not run, cases are open if all of them failed in every trial: an application
    without chance does that, and one with chance hardly ever.
    """
    found = list_broken_cases(context.comparison, context.index, context.limits, context.uncalibrated)
    cases = [each.case for each in found]
    if not cases:
        return
    known = find_confirmations(context)
    tried = [known[case] for case in sort_by_name(dict.fromkeys(cases)) if case in known]
    # Of both sides, a test decides. Runs before it have numbers of passes and failures.
    tried = [each for each in tried if each.level is not None or not each.base_tries]
    broken = [each for each in tried if _is_broken(each)]
    unsettled = [each for each in tried if _is_open(each)]
    if broken:
        yield _make_finding(context, Conclusion.FAILED, broken, "")
    elif unsettled and all(each.base_tries or _is_open(each) for each in tried):
        yield _make_finding(context, Conclusion.UNMEASURABLE, unsettled, _explain_open(unsettled, context.comparison))
    elif tried:
        text = f"{len(cases):,} newly failing, and none of them certainly by the change"
        yield _find(context, Conclusion.PASSED, text)
    elif _is_asked_for(context.limits) and not any(row.label is RowLabel.WORSE for row in context.rows):
        text = f"{len(cases):,} newly failing, which did not run again"
        yield _find(context, Conclusion.UNMEASURABLE, text)


def _is_asked_for(limits: Limits) -> bool:
    return FAIL_ON_BROKEN_CASES.is_set(limits) and not limits.is_from_set(FAIL_ON_BROKEN_CASES.name)


def _is_broken(tried: Confirmation) -> bool:
    return tried.outcome is ConfirmationOutcome.CONFIRMED and bool(tried.base_tries)


def _is_open(tried: Confirmation) -> bool:
    """Whether all trials speak against a case, and too few of the base ran to say so."""
    if tried.outcome is ConfirmationOutcome.OPEN:
        return True
    return tried.outcome is ConfirmationOutcome.CONFIRMED and not tried.base_tries and not any(tried.tries)


def _explain_open(tried: Sequence[Confirmation], comparison: Comparison) -> str:
    if any(each.base_tries for each in tried):
        return "; too few trials had a result to decide"
    text = "; the base can't run here, which would decide"
    if comparison.run.code.commit is None:
        return f"{text}: commit the code, so that it can be compared with a commit"
    if comparison.has_implicit_base:
        return f"{text}: --baseline rerun:HEAD compares with the last commit, which can"
    return f"{text}: --baseline rerun compares with a run of the base's commit in this job"


def _make_finding(context: SuiteContext, conclusion: Conclusion, tried: Sequence[Confirmation], reason: str) -> Finding:
    shown = tried[:_MOST_NAMES]
    names = read_names(context.comparison.run, context.index, [each.case for each in shown])
    groups = dict[str, list[str]]()
    for each in shown:
        groups.setdefault(_describe_trials(each), []).append(names[each.case])
    listed = "; ".join(f"{', '.join(cases)} ({'each ' * (len(cases) > 1)}{text})" for text, cases in groups.items())
    more = len(tried) - len(shown)
    return _find(context, conclusion, f"{listed}{f' and {more:,} more' if more else ''}{reason}")


def _describe_trials(tried: Confirmation) -> str:
    if not tried.tries:
        return "without a result in any further trial"
    text = f"failed {tried.tries.count(False)} of {len(tried.tries)} further trials"
    base = tried.base_tries
    return f"{text}, the baseline {base.count(False)} of {len(base)}" if base else text


def _find(context: SuiteContext, conclusion: Conclusion, value: str) -> Finding:
    origin = context.limits.find_origin(FAIL_ON_BROKEN_CASES.name, "fail_on_regression")
    return Finding(RULE, conclusion, value, _LIMIT, origin, context.suite.label)


def explain_silence(_: SuiteContext) -> str:
    """No case newly fails, or a gate of means fails already."""
    return "no case that passed in the baseline newly fails"
