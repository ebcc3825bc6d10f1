"""Rules about one suite against its base."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, exp

from scoregate.core.cases import Columns, Status
from scoregate.core.comparison_rows import QUANTITIES, Change, Measure, Row
from scoregate.core.gate.finding import Conclusion, Finding, SuiteContext
from scoregate.core.gate.suite_rules import find_limit, format_percent
from scoregate.core.pairing import Side, quantity_side
from scoregate.core.ratios import p95_test, ratio_of_p95, ratio_of_totals, total_test
from scoregate.core.run import Confirmation, Outcome, SuiteResult

CRITICAL = "critical"
_CONCLUSIONS = {Outcome.CONFIRMED: Conclusion.FAILED, Outcome.OPEN: Conclusion.UNMEASURABLE}


def is_watched(row: Row, judged: SuiteContext) -> bool:
    """Whether a relative gate depends on this row."""
    _, drop = find_limit(judged.limits.max_drop, row.evaluator)
    return drop is not None or bool(judged.limits.fail_on_regression)


def check_drops(judged: SuiteContext) -> Iterator[Finding]:
    """No row that is worse has dropped by more than its limit."""
    for row in judged.rows:
        glob, limit = find_limit(judged.limits.max_drop, row.evaluator)
        if limit is None or row.evaluator in judged.uncalibrated:
            continue
        where = judged.limits.where(f"max_drop.{glob}", "max_drop")
        told = f"a drop of at most {limit:.3f}"
        exceeds = -row.gain > limit
        found = _judge_row("drop", row, bad=exceeds and row.label is Change.WORSE, limit=told, where=where)
        for finding in found:
            unsure = exceeds and finding.conclusion is Conclusion.PASSED
            value = (
                f"{finding.value}: above the limit, within noise{_describe_deciding_cases(row)}"
                if unsure
                else finding.value
            )
            yield replace(finding, value=value, bound=limit, uncertain=unsure)


def _describe_deciding_cases(row: Row) -> str:
    """How many cases would decide: as many as detect a drop of this size four times in five."""
    if row.detectable is None or -row.gain >= row.detectable:
        return ""
    needed = row.n * (row.detectable / row.gain) ** 2
    size = 10 ** max(0, len(str(int(needed))) - 2)
    return f"; about {ceil(needed / size) * size:,} cases would decide"


def check_regressions(judged: SuiteContext) -> Iterator[Finding]:
    """No row is worse."""
    if not judged.limits.fail_on_regression:
        return
    where = judged.limits.where("fail_on_regression")
    for row in judged.rows:
        if row.evaluator in judged.uncalibrated:
            continue
        if _is_unmeasured(row) and find_limit(judged.limits.max_drop, row.evaluator)[1] is not None:
            continue  # the other relative gate of this row reports it
        yield from _judge_row("regression", row, bad=row.label is Change.WORSE, limit="no regression", where=where)


def _is_unmeasured(row: Row) -> bool:
    return row.label is Change.UNMEASURABLE and row.dropped > 0 and not row.lost_too_many


def _judge_row(rule: str, row: Row, *, bad: bool, limit: str, where: str) -> Iterator[Finding]:
    """What the rule finds in a row that was compared, or should have been."""
    conclusion, value = Conclusion.FAILED if bad else Conclusion.PASSED, describe_change(row)
    if _is_unmeasured(row):
        conclusion, value = Conclusion.UNMEASURABLE, row.reason
    elif row.delta is None or row.lost_too_many:
        return
    yield Finding(rule, conclusion, value, limit, where, row.suite, row.evaluator)


def describe_change(row: Row) -> str:
    """How far a row moved, with its corrected p: `−0.080 [−0.126, −0.033], p = 0.0005`."""
    bounds = "" if row.low is None or row.high is None else f" [{_format_signed(row.low)}, {_format_signed(row.high)}]"
    p = next((p for p in (row.q, row.p) if p is not None), 1.0)
    return f"{_format_signed(row.delta or 0.0)}{bounds}, corrected {'p < 0.0001' if p < 0.0001 else f'p = {p:.2g}'}"


def _format_signed(value: float) -> str:
    text = f"{abs(value):.3f}"
    if float(text) == 0:
        return f"±{text}"
    return f"{'+' if value > 0 else '−'}{text}"


def check_comparable(judged: SuiteContext) -> Iterator[Finding]:
    """A row that a relative gate watches can be compared, where the base has it."""
    for row in judged.rows:
        lost = row.label in (Change.NOT_COMPARABLE, Change.REMOVED) or (
            row.label is Change.NEW and row.base is not None
        )
        if lost and is_watched(row, judged):
            value = f"{row.label}: {row.reason}"
            yield Finding("comparable", Conclusion.FAILED, value, "the same evaluator", "", row.suite, row.evaluator)


def check_lost_scores(judged: SuiteContext) -> Iterator[Finding]:
    """Every evaluator gives a score, and does not return None for many cases that have one in the base.

    Where people are asked, or a battle has no champion yet, there is nothing to score.
    """
    for row in judged.rows:
        if row.lost_too_many and _is_needed(row, judged):
            limit = f"≤ {format_percent(judged.criteria.max_lost)} lost"
            where = judged.limits.where("max_lost_scores")
            yield Finding("scores remain", Conclusion.UNMEASURABLE, row.reason, limit, where, row.suite, row.evaluator)
        elif _has_no_scores(row, judged):
            told = "no score, though the base has some" if row.base is not None else "no score of any case"
            limit = "a score of at least 1 case"
            yield Finding("scores remain", Conclusion.UNMEASURABLE, told, limit, "always", row.suite, row.evaluator)


def _is_needed(row: Row, judged: SuiteContext) -> bool:
    """Whether any gate depends on the scores of this row: a relative one, a mean, or thresholds of cases."""
    base = _base_suite(judged)
    sides = (judged.suite, *([base] if base is not None else []))
    thresholds = judged.limits.min_pass_rate is not None and any(
        side.columns.judged.get(row.evaluator) for side in sides
    )
    _, mean = find_limit(judged.limits.min_score, row.evaluator)
    return is_watched(row, judged) or mean is not None or thresholds


def _has_no_scores(row: Row, judged: SuiteContext) -> bool:
    suite, columns = judged.suite, judged.suite.columns
    info = suite.evaluators.get(row.evaluator)
    if row.label is not Change.UNMEASURABLE or info is None or info.battles or not suite.complete:
        return False
    if not suite.evaluations:  # reported once, for the suite
        return False
    if suite.mean(row.evaluator) is not None or columns.labels.get(row.evaluator):
        return False
    if columns.deferred.get(row.evaluator) or row.evaluator in suite.reviews:
        return False
    limit = judged.limits.max_error_rate
    errored = len(columns.erring()) / len(columns)
    return columns.silent.get(row.evaluator, 0) > 0 or not errored or limit is None or errored <= limit


def check_quantities(judged: SuiteContext) -> Iterator[Finding]:
    """Cost, tokens and the 95th percentile of latency stay within their multiples of the base's, beyond noise."""
    limits, new, old = judged.limits, judged.suite.columns, _base_suite(judged)
    if old is None:
        return
    for rule, name, limit, measure in (
        ("cost", "max_cost_ratio", limits.max_cost_ratio, Measure.COST),
        ("tokens", "max_tokens_ratio", limits.max_tokens_ratio, Measure.TOKENS),
        ("p95 latency", "max_p95_ratio", limits.max_p95_ratio, Measure.LATENCY),
    ):
        if limit is None:
            continue
        here, there = (quantity_side([columns], QUANTITIES[measure]) for columns in (new, old.columns))
        if here.means or there.means:
            found = _check_ratio(
                here, there, new, limit=limit, tail=measure is Measure.LATENCY, alpha=judged.criteria.alpha
            )
            yield replace(found, rule=f"{rule} ratio", origin=limits.where(name), suite=judged.suite.label)


def _check_ratio(here: Side, there: Side, new: Columns, *, limit: float, tail: bool, alpha: float) -> Finding:
    """What only the base knows was lost; what only the run knows can't be compared."""
    found = Finding("", Conclusion.PASSED, "unknown in the base", f"≤ {limit:g} ×", bound=limit)
    if not here.means:
        return replace(found, conclusion=Conclusion.UNMEASURABLE, value="unknown, though the base knows it")
    ratio = ratio_of_p95(here, there) if tail else ratio_of_totals(here, there)
    if ratio is None:
        return found
    told = f"{ratio.times:.2f} × the base's"
    if ratio.low is not None and ratio.high is not None:
        told += f" [{exp(ratio.low):.2f}, {exp(ratio.high):.2f}]"
    if ratio.times <= limit * (1 + 1e-9):
        return replace(found, value=told)
    p = p95_test(here, there) if tail else total_test(here, there, new)
    if p > alpha / 2:
        return replace(found, value=f"{told}: above the limit, within noise at {ratio.n:,} cases", uncertain=True)
    return replace(found, conclusion=Conclusion.FAILED, value=told)


def _base_suite(judged: SuiteContext) -> SuiteResult | None:
    base, pairs = judged.comparison.base, dict(judged.comparison.pairs)
    return base.suites[pairs[judged.index]] if base is not None and judged.index in pairs else None


def check_critical_cases(judged: SuiteContext) -> Iterator[Finding]:
    """No case tagged critical is newly failing, unless running it again clears it."""
    if not judged.limits.fail_on_critical:
        return
    tried = {each.case: each for each in judged.comparison.run.confirmations if each.suite == judged.suite.label}
    for flip in judged.comparison.newly_failing:
        if flip.suite != judged.index or CRITICAL not in judged.suite.columns.tags.get(flip.row, ()):
            continue
        case = judged.suite.columns.hashes[flip.row]
        yield _check_critical_case(case, tried.get(case), judged)


def _check_critical_case(case: str, tried: Confirmation | None, judged: SuiteContext) -> Finding:
    outcome = Outcome.CONFIRMED if tried is None else tried.outcome
    return Finding(
        "critical case",
        _CONCLUSIONS.get(outcome, Conclusion.PASSED),
        f"{case} newly fails ({_describe_tries(tried)}; {_describe_base_trials(case, judged)})",
        "no critical case newly fails",
        judged.limits.where("fail_on_critical"),
        judged.suite.label,
    )


def _describe_tries(tried: Confirmation | None) -> str:
    if tried is None:
        return "not run again"
    return f"{tried.outcome}: failed {tried.tries.count(False)} of {len(tried.tries)} further tries"


def _describe_base_trials(case: str, judged: SuiteContext) -> str:
    """How often the case failed in the base; of one trial that says nothing."""
    base = _base_suite(judged)
    columns = Columns() if base is None else base.columns
    statuses = [columns.status(row) for row, known in enumerate(columns.hashes) if known == case]
    if len(statuses) < 2:
        return "how often it failed before is unknown"
    return f"in the base it failed {statuses.count(Status.FAILED)} of {len(statuses)} trials"
