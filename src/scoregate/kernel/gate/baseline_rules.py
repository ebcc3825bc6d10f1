"""Rules that compare one suite with its baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import ceil

from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.pairing import evaluator_error_rows
from scoregate.kernel.compare.setups import describe_model_change, describe_unknown_model
from scoregate.kernel.gate.families import GateLimit, is_collapse
from scoregate.kernel.gate.finding import Finding, RunContext, SuiteContext
from scoregate.kernel.gate.suite_rules import format_digits, format_percent, match_limit
from scoregate.kernel.types.amounts import Conclusion, exceeds, exceeds_share, reaches
from scoregate.kernel.types.declarations.declaration import Limit, Rule
from scoregate.kernel.types.declarations.kernel import (
    COMPARABLE,
    DROP,
    MAX_DROP,
    REGRESSION,
    SAME_MODEL,
    SCORES_REMAIN,
)
from scoregate.kernel.types.exemptions import AcceptedRegression
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.policy import Limits, Severity


def is_watched(row: Row, context: SuiteContext) -> bool:
    """Whether a relative gate depends on a row."""
    _, drop = match_limit(context.limits.max_drop, row.evaluator)
    has_limited_part = row.suite in context.families.suites_with_limited_parts
    return drop is not None or bool(context.limits.fail_on_regression) or has_limited_part


def list_limits(row: Row, context: SuiteContext) -> Iterator[GateLimit]:
    """The limits by which a row of a whole suite can make the run red."""
    limits = context.limits
    most, origin = find_limit(MAX_DROP, row.evaluator, limits)
    if most is not None:
        yield from list_gate_limits(DROP, most, origin, row, context)
    if limits.fail_on_regression:
        yield from list_gate_limits(REGRESSION, *_find_regression_limit(row, context), row, context)


def find_limit(limit: Limit[Mapping[str, float]], name: str, limits: Limits) -> tuple[float | None, str]:
    """The limit of an evaluator or a part, None without one, and where it is set."""
    glob, most = match_limit(limit.of(limits), name)
    return most, limits.find_origin(f"{limit.name}.{glob}", limit.name)


def _find_regression_limit(row: Row, context: SuiteContext) -> tuple[float, str]:
    """The smallest drop that `fail_on_regression` counts, and where it is set."""
    smallest = context.criteria.evaluator_criteria(row.evaluator).min_effect or 0.0
    return smallest, context.limits.find_origin("fail_on_regression")


def list_gate_limits(rule: Rule, most: float, origin: str, row: Row, context: SuiteContext) -> Iterator[GateLimit]:
    """The limit, if it can make the run red."""
    if rule.severity_in(context.limits) is Severity.FAIL and row.evaluator not in context.uncalibrated:
        yield GateLimit(rule, most, origin)


def check_drops(context: SuiteContext) -> Iterator[Finding]:
    """No row that is worse drops by more than its limit."""
    for row in context.rows:
        limit, origin = find_limit(MAX_DROP, row.evaluator, context.limits)
        if limit is None or row.evaluator in context.uncalibrated:
            continue
        yield from check_drop(DROP, row, context, most=limit, origin=origin)


def check_drop(rule: Rule, row: Row, context: SuiteContext, *, most: float, origin: str) -> Iterator[Finding]:
    """The finding of a row with a limit for its drop, unless another rule reports the row.

    Args:
        rule: the rule.
        row: the row.
        context: its suite.
        most: the largest allowed drop, in the unit of the scores.
        origin: where the limit is set.
    """
    is_beyond = exceeds(-row.effect, most) and not row.is_accepted
    text = f"a drop of at most {most:.3f}"
    for finding in check_row(rule, row, context, is_beyond=is_beyond, limit=text, origin=origin):
        value = finding.value
        is_uncertain = is_beyond and finding.applied and finding.conclusion is Conclusion.PASSED
        if is_uncertain and row.label is not RowLabel.TOO_FEW:
            value += f": above the limit, within noise{_describe_deciding_cases(row)}"
        yield replace(finding, value=value, bound=most, uncertain=is_uncertain)


def _describe_deciding_cases(row: Row) -> str:
    """The number of cases that would detect a drop of this size with a power of 80 %; empty if there are enough."""
    detectable = row.estimate.detectable
    if detectable is None or -row.gain >= detectable:
        return ""
    needed = row.pairs.n * (detectable / row.gain) ** 2
    size = 10 ** max(0, len(str(int(needed))) - 2)
    return f"; about {ceil(needed / size) * size:,} cases would decide"


def check_regressions(context: SuiteContext) -> Iterator[Finding]:
    """No row is worse."""
    if not context.limits.fail_on_regression:
        return
    base = context.base_suite
    for row in context.rows:
        if row.evaluator in context.uncalibrated:
            continue
        if base is not None and all(row.evaluator in each.columns.unscaled for each in (context.suite, base)):
            continue  # a number without a scale, such as a word count: only its own row is unmeasurable
        if _is_unmeasured(row) and match_limit(context.limits.max_drop, row.evaluator)[1] is not None:
            continue  # the other relative gate of this row reports it
        smallest, origin = _find_regression_limit(row, context)
        is_beyond = reaches(-row.effect, smallest) and not row.is_accepted
        yield from check_row(REGRESSION, row, context, is_beyond=is_beyond, limit="no regression", origin=origin)


def _is_unmeasured(row: Row) -> bool:
    has_errors = row.pairs.dropped > 0 and not row.lost.too_many
    return row.label is RowLabel.UNMEASURABLE and (row.unscaled or has_errors)


def check_row(
    rule: Rule, row: Row, context: SuiteContext, *, is_beyond: bool, limit: str, origin: str
) -> Iterator[Finding]:
    """The finding of a row, unless another rule reports the row.

    Args:
        rule: the rule.
        row: the row.
        context: its suite.
        is_beyond: whether the drop exceeds the limit.
        limit: the limit, as text.
        origin: where the limit is set.
    """
    conclusion, value, powerless = Conclusion.PASSED, describe_change(row), _explain_powerless(row, context)
    if row.adjustment is not None and row.label is RowLabel.EXPLAINED:
        value += f": {_format_signed(row.adjustment.delta or 0.0)} {row.adjustment.explanation}"
    if row.accepted is not None and row.label is RowLabel.WORSE:
        value += f"; {describe_acceptance(row, row.accepted)}"
    if _is_unmeasured(row):
        conclusion, value = Conclusion.UNMEASURABLE, f"{row.reason}{_advise(row, context)}"
    elif row.delta is None or row.lost.too_many:
        return
    elif is_beyond and row.label is RowLabel.WORSE:
        conclusion = Conclusion.FAILED
    elif is_beyond and _has_collapsed(row, context, can_fail=not powerless):
        conclusion = Conclusion.UNMEASURABLE
        value += f": every case fell, and {describe_few(row)} are too few to be certain"
    elif powerless:
        yield Finding(rule, conclusion, powerless, limit, origin, row.suite, row.evaluator, applied=False)
        return
    elif row.label is RowLabel.TOO_FEW:
        value += f": {describe_few(row)} are too few to decide alone{_describe_together(context)}"
    yield Finding(rule, conclusion, value, limit, origin, row.suite, row.evaluator)


def _advise(row: Row, context: SuiteContext) -> str:
    """What to do about a row without a result since only the baseline met errors; empty for other rows."""
    base = context.base_suite
    if row.unscaled or base is None or evaluator_error_rows(context.suite.columns, row.evaluator):
        return ""
    if context.comparison.has_implicit_base:
        return "; run again: if nothing else fails, the next run is compared with this one"
    return "; run the baseline again, or compare with another one (--baseline)"


def _has_collapsed(row: Row, context: SuiteContext, *, can_fail: bool) -> bool:
    """Whether every case of a row fell, which could be certain with more cases."""
    families = context.families
    is_too_few = row.pairs.able < families.shares.fewest_cases
    return is_too_few and is_collapse(row, can_fail=can_fail, is_alone=not families.small.has_several)


def _explain_powerless(row: Row, context: SuiteContext) -> str:
    """Why no outcome of a row could be certain enough for a gate to fail; empty if one could.

    Rows with too few pairs are tested together, so all their cases count.
    """
    needed, is_small = context.families.shares.fewest_cases, row.label is RowLabel.TOO_FEW
    able = max(context.families.small.able, row.pairs.able) if is_small else row.pairs.able
    if able >= needed:
        return ""
    if is_small and context.families.small.has_several:
        return f"can't fail with {_count(able, 'case')} in all small suites together ({needed} are needed)"
    pairs = row.pairs
    if able < pairs.clusters:
        above = f"only {able:,} of {describe_few(row)} can get worse" if able else "no score can get worse"
        return f"can't fail, as {above} ({needed} are needed)"
    return f"can't fail with {_count(able, 'case' if pairs.clusters == pairs.n else 'cluster')} ({needed} are needed)"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _describe_together(context: SuiteContext) -> str:
    """The p of all rows that are tested together, if there are several."""
    small = context.families.small
    if small.q is None or not small.has_several:
        return ""
    return f"; all {len(small.rows):,} small rows together: corrected {_describe_p(small.q)}"


def check_small_rows(context: RunContext) -> Iterator[Finding]:
    """The rows with too few pairs didn't get worse together.

    If some of them are clearly worse by themselves, these are named by their own findings.
    """
    small = context.families.small
    if small.q is None or small.q > context.policy.criteria.alpha:
        return
    if any(each.row.label is RowLabel.WORSE for each in small.rows):
        return
    fallen = [each for each in small.rows if each.row.gain < 0]
    pairs = sum(each.row.pairs.n for each in fallen)
    mean = sum(each.row.gain * each.row.pairs.n for each in fallen) / pairs if pairs else 0.0
    value = (
        f"{_count(len(fallen), 'row')} with few pairs fell together: {_format_signed(mean)} on average of "
        f"{_count(pairs, 'pair')}, corrected {_describe_p(small.q)}; none of them is certain alone"
    )
    # A control has too few cases of small suites to separate a change from a shift that it would find.
    has_control = bool(context.comparison.run.companions_of(TrialRole.CONTROL))
    conclusion = Conclusion.UNMEASURABLE if has_control else Conclusion.FAILED
    limits: dict[Rule, GateLimit] = {}
    for limit in (limit for each in fallen for limit in each.limits):
        limits[limit.rule] = max(limits.get(limit.rule, limit), limit, key=lambda each: each.most)
    for limit in limits.values():
        if reaches(-mean, limit.most) if limit.rule is REGRESSION else exceeds(-mean, limit.most):
            text = "no regression" if limit.rule is REGRESSION else f"a drop of at most {limit.most:.3f}"
            yield Finding(limit.rule, conclusion, value, text, limit.origin)
            return


def describe_few(row: Row) -> str:
    """The number of pairs, or of their clusters if these are fewer: `9 pairs`, `4 clusters`."""
    return _count(row.pairs.clusters, "cluster") if row.pairs.clusters < row.pairs.n else _count(row.pairs.n, "pair")


def describe_change(row: Row) -> str:
    """The change of a row with its interval and p: `−0.080 [−0.126, −0.033], corrected p = 0.0005`.

    The p of a row with too few pairs is not corrected.
    """
    interval, q = row.estimate.interval, row.correction.q
    bounds = "" if interval is None else f" [{', '.join(map(_format_signed, interval))}]"
    p = _describe_p(row.estimate.p) if q is None else f"corrected {_describe_p(q)}"
    return f"{_format_signed(row.delta or 0.0)}{bounds}, {p}"


def _describe_p(p: float) -> str:
    return "p < 0.0001" if p < _SMALLEST_P else f"p = {p:.2g}"


_SMALLEST_P = 0.0001


def describe_acceptance(row: Row, entry: AcceptedRegression) -> str:
    """What an entry says about a row that is worse."""
    if row.is_accepted:
        more = "" if entry.allows(-row.gain) else ", and this one isn't certainly larger"
        return f"a drop of up to {format_digits(entry.at_most, 3)} is accepted {entry.terms}{more}"
    return f"more than the {format_digits(entry.at_most, 3)} that is accepted until {entry.until}"


def _format_signed(value: float) -> str:
    text = f"{abs(value):.3f}"
    if float(text) == 0:
        return f"±{text}"
    return f"{'+' if value > 0 else '−'}{text}"


def check_comparable(context: SuiteContext) -> Iterator[Finding]:
    """Rows of the baseline that a relative gate depends on can be compared."""
    for row in context.rows:
        is_lost = row.label in (RowLabel.NOT_COMPARABLE, RowLabel.REMOVED) or (
            row.label is RowLabel.NEW and row.base is not None
        )
        if is_lost and is_watched(row, context):
            value = f"{row.label}: {row.reason}"
            yield Finding(COMPARABLE, Conclusion.FAILED, value, "the same scorer", "", row.suite, row.evaluator)


def check_model(context: SuiteContext) -> Iterator[Finding]:
    """The model under test is the baseline's. This is off by default: a new model is often what is compared."""
    if (base := context.base_suite) is None:
        return
    for conclusion, describe in (
        (Conclusion.FAILED, describe_model_change),
        (Conclusion.UNMEASURABLE, describe_unknown_model),
    ):
        if value := describe(context.suite, base):
            yield Finding(SAME_MODEL, conclusion, value, "the baseline's model", "severity", context.suite.label)


def check_lost_scores(context: SuiteContext) -> Iterator[Finding]:
    """Every evaluator gives a score, and doesn't return None for many cases with a score in the baseline.

    An evaluator without scores is no problem if it waits for people, or is a battle without a baseline output.
    """
    for row in context.rows:
        value, limit, origin = row.reason, f"≤ {format_percent(context.criteria.max_lost)} lost", "always"
        if row.lost.too_many and _is_needed(row, context):
            origin = context.limits.find_origin("max_lost_scores")
        elif _has_no_scores(row, context):
            value = "no score, though the baseline has some" if row.base is not None else "no score of any case"
            limit = "a score of at least 1 case"
        else:
            continue
        yield Finding(SCORES_REMAIN, Conclusion.UNMEASURABLE, value, limit, origin, row.suite, row.evaluator)


def _is_needed(row: Row, context: SuiteContext) -> bool:
    """Whether a gate depends on the scores of a row: a relative gate, a mean score, or thresholds of cases."""
    _, min_score = match_limit(context.limits.min_score, row.evaluator)
    if is_watched(row, context) or min_score is not None:
        return True
    base = context.base_suite
    suites = [context.suite] if base is None else [context.suite, base]
    has_thresholds = any(suite.columns.judged.get(row.evaluator) for suite in suites)
    return context.limits.min_pass_rate is not None and has_thresholds


def _has_no_scores(row: Row, context: SuiteContext) -> bool:
    suite, columns = context.suite, context.suite.columns
    info = suite.evaluators.get(row.evaluator)
    if row.label is not RowLabel.UNMEASURABLE or info is None or info.battles or not suite.complete:
        return False
    if not suite.evaluations:  # reported once, for the suite
        return False
    if row.evaluator in columns.unscaled:  # never measured: only its own row is unmeasurable
        return row.base is not None
    if suite.mean(row.evaluator) is not None or columns.labels.get(row.evaluator):
        return False
    if columns.deferred.get(row.evaluator) or row.evaluator in suite.reviews:
        return False
    limit = context.limits.max_error_rate
    is_allowed = limit is None or not exceeds_share(len(context.errored), len(columns), limit)
    return columns.unscored_counts.get(row.evaluator, 0) > 0 or is_allowed
