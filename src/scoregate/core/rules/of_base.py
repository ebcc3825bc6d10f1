"""Rules about one suite against its base."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from scoregate.core.confirmation import Confirmation, Outcome
from scoregate.core.record import SuiteResult
from scoregate.core.rows import Label, Row
from scoregate.core.rules.finding import Conclusion, Finding
from scoregate.core.rules.judged import JudgedSuite
from scoregate.core.rules.of_suite import limit_of, p95

CRITICAL = "critical"
_OF_OUTCOME = {Outcome.CONFIRMED: Conclusion.FAILED, Outcome.OPEN: Conclusion.UNMEASURABLE}


def is_watched(row: Row, judged: JudgedSuite) -> bool:
    """Whether a relative gate depends on this row."""
    _, drop = limit_of(judged.limits.max_drop, row.evaluator)
    return drop is not None or bool(judged.limits.fail_on_regression)


def _is_worse(row: Row, judged: JudgedSuite) -> bool:
    """Worse beyond noise, by Holm over every row that a relative gate watches, and by an effect worth a word."""
    adjusted = (judged.adjusted or {}).get((row.suite, row.evaluator), 1.0)
    effect = judged.criteria.of(row.evaluator).min_effect or 0.0
    return row.gain < 0 and -row.gain >= effect and adjusted <= judged.criteria.alpha


def drops(judged: JudgedSuite) -> Iterator[Finding]:
    """No evaluator's mean drops by more than its limit, and by more than noise."""
    for row in judged.rows:
        glob, limit = limit_of(judged.limits.max_drop, row.evaluator)
        if limit is None:
            continue
        bad = _is_worse(row, judged) and -row.gain > limit
        where = judged.limits.where(f"max_drop.{glob}", "max_drop")
        told = f"a drop of at most {limit:.3f}"
        yield from (replace(found, bound=limit) for found in _found("drop", row, bad=bad, limit=told, where=where))


def regressions(judged: JudgedSuite) -> Iterator[Finding]:
    """No evaluator got worse beyond noise and the smallest effect worth a word."""
    if not judged.limits.fail_on_regression:
        return
    where = judged.limits.where("fail_on_regression")
    for row in judged.rows:
        yield from _found("regression", row, bad=_is_worse(row, judged), limit="no regression", where=where)


def _found(rule: str, row: Row, *, bad: bool, limit: str, where: str) -> Iterator[Finding]:
    """What the rule finds in a row that was compared, or should have been."""
    conclusion, value = Conclusion.FAILED if bad else Conclusion.PASSED, moved(row)
    if row.label is Label.UNMEASURABLE and row.dropped:
        conclusion, value = Conclusion.UNMEASURABLE, row.reason
    elif row.delta is None:
        return
    yield Finding(rule, conclusion, value, limit, where, row.suite, row.evaluator)


def moved(row: Row) -> str:
    """How far a row moved: `−0.080 [−0.126, −0.033], p = 0.0005`."""
    bounds = "" if row.low is None or row.high is None else f" [{_signed(row.low)}, {_signed(row.high)}]"
    p = 1.0 if row.p is None else row.p
    return f"{_signed(row.delta or 0.0)}{bounds}, {'p < 0.0001' if p < 0.0001 else f'p = {p:.2g}'}"


def _signed(value: float) -> str:
    text = f"{abs(value):.3f}"
    if float(text) == 0:
        return f"±{text}"
    return f"{'+' if value > 0 else '−'}{text}"


def comparable(judged: JudgedSuite) -> Iterator[Finding]:
    """A row that a relative gate watches can be compared, where the base has it."""
    for row in judged.rows:
        lost = row.label in (Label.NOT_COMPARABLE, Label.REMOVED) or (row.label is Label.NEW and row.base is not None)
        if lost and is_watched(row, judged):
            value = f"{row.label}: {row.reason}"
            yield Finding("comparable", Conclusion.FAILED, value, "the same evaluator", "", row.suite, row.evaluator)


def scores_remain(judged: JudgedSuite) -> Iterator[Finding]:
    """An evaluator that the base has scores of does not return None for every case: a `return` may be forgotten."""
    suite, columns = judged.suite, judged.suite.columns
    for row in judged.rows:
        info, silent = suite.evaluators.get(row.evaluator), columns.silent.get(row.evaluator, 0)
        lost = row.label is Label.UNMEASURABLE and row.mean is None and row.base is not None
        if not lost or not silent or info is None or info.battles or not suite.complete:
            continue
        if silent + len(columns.erring()) >= len(columns):  # where people are asked for some, theirs is the word
            told, limit = "no score, though the base has some", "a score of at least 1 case"
            yield Finding("scores remain", Conclusion.UNMEASURABLE, told, limit, "always", row.suite, row.evaluator)


def quantities(judged: JudgedSuite) -> Iterator[Finding]:
    """Cost, tokens and the 95th percentile of latency stay within their multiples of the base's, a case."""
    old = _base_of(judged)
    if old is None:
        return
    limits, new = judged.limits, judged.suite
    measured = (
        ("cost", "max_cost_ratio", limits.max_cost_ratio, _a_case(new, "costs"), _a_case(old, "costs")),
        ("tokens", "max_tokens_ratio", limits.max_tokens_ratio, _a_case(new, "tokens"), _a_case(old, "tokens")),
        (
            "p95 latency",
            "max_p95_ratio",
            limits.max_p95_ratio,
            p95(new.columns.durations_ms),
            p95(old.columns.durations_ms),
        ),
    )
    for rule, name, limit, value, base in measured:
        if limit is not None and (value or base):
            conclusion, told = _ratio(value, base, limit)
            where = limits.where(name)
            yield Finding(f"{rule} ratio", conclusion, told, f"≤ {limit:g} ×", where, new.label, bound=limit)


def _ratio(value: float | None, base: float | None, limit: float) -> tuple[Conclusion, str]:
    """What only the base knows was lost; what only the run knows has nothing to be held against."""
    if not value:
        return Conclusion.UNMEASURABLE, "unknown, though the base knows it"
    if not base:
        return Conclusion.PASSED, "unknown in the base"
    return Conclusion.FAILED if value / base > limit else Conclusion.PASSED, f"{value / base:.2f} × the base's"


def _base_of(judged: JudgedSuite) -> SuiteResult | None:
    base, pairs = judged.comparison.base, dict(judged.comparison.pairs)
    return base.suites[pairs[judged.index]] if base is not None and judged.index in pairs else None


def _a_case(suite: SuiteResult, column: str) -> float | None:
    known = [value for value in getattr(suite.columns, column) if value > 0]
    return sum(known) / len(known) if known else None


def critical_cases(judged: JudgedSuite) -> Iterator[Finding]:
    """No case tagged critical is newly failing, unless running it again clears it."""
    if not judged.limits.fail_on_critical:
        return
    tried = {each.case: each for each in judged.comparison.run.confirmations if each.suite == judged.suite.label}
    for flip in judged.comparison.newly_failing:
        if flip.suite != judged.index or CRITICAL not in judged.suite.columns.tags.get(flip.row, ()):
            continue
        case = judged.suite.columns.hashes[flip.row]
        yield _critical(case, tried.get(case), judged)


def _critical(case: str, tried: Confirmation | None, judged: JudgedSuite) -> Finding:
    outcome = Outcome.CONFIRMED if tried is None else tried.outcome
    told = (
        "not run again" if tried is None else f"{outcome}, {tried.tries.count(True)} of {len(tried.tries)} tries passed"
    )
    return Finding(
        "critical case",
        _OF_OUTCOME.get(outcome, Conclusion.PASSED),
        f"{case} newly fails ({told})",
        "no critical case newly fails",
        judged.limits.where("fail_on_critical"),
        judged.suite.label,
    )
