"""Rules about what a suite uses: its cost, its tokens and its latency."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import exp, isnan
from typing import TypeAlias

from scoregate.kernel.compare.comparison_rows import Measure
from scoregate.kernel.compare.pairing import Side, case_clusters, pair_sides, quantity_side
from scoregate.kernel.compare.quantity_rows import QUANTITIES, has_stored_answers
from scoregate.kernel.compare.ratios import compute_p95_ratio, compute_total_ratio, p95_test, total_test
from scoregate.kernel.gate.families import LEAST_CASES
from scoregate.kernel.gate.finding import Finding, RatioTest, SuiteContext
from scoregate.kernel.types.amounts import (
    NOT_REPORTED,
    Amount,
    Conclusion,
    Unknown,
    add,
    check_limit,
    exceeds,
    find_known,
    find_missing,
    lack_prices,
    round_off,
)
from scoregate.kernel.types.declarations.kernel import (
    COST,
    COST_RATIO,
    P95_LATENCY,
    P95_LATENCY_RATIO,
    TOKENS,
    TOKENS_RATIO,
)
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns, percentiles
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.text import format_dollars
from scoregate.kernel.types.usage import count_tokens, measure_cost

_ROUNDING = 1e-9
# With a larger share of calls that name no case, differences of cases say little about the suite.
_MOST_UNNAMED = 0.5
_STORED = "answers were read from a store, which takes no time and costs nothing"


def check_quantity_limits(context: SuiteContext) -> Iterator[Finding]:
    """Cost, tokens and the 95th percentile of latency are within their absolute limits."""
    suite, limits = context.suite, context.limits
    p95, shared = compute_p95(suite.columns.durations_ms), find_shared_usage(context.comparison.run, suite)
    latency = NOT_REPORTED if p95 is None else p95
    for rule, name, limit, amount, more, forms in (
        (COST, "max_cost", limits.max_cost, suite.cost, measure_cost(shared), _DOLLARS),
        (TOKENS, "max_tokens", limits.max_tokens, suite.tokens, count_tokens(shared), _TOKENS),
        (P95_LATENCY, "max_p95_ms", limits.max_p95_ms, latency, NOT_REPORTED, _MS),
    ):
        if limit is not None:
            conclusion, value, limit_text = _apply_limit(suite, amount, more, limit, forms)
            origin = limits.find_origin(name)
            yield Finding(rule, conclusion, value, f"≤ {limit_text}", origin, suite.label, bound=limit)


_DOLLARS = (format_dollars, "${:,.4f}".format, "${:,.6f}".format)
_TOKENS = ("{:,.0f}".format,)
_MS = ("{:,.0f} ms".format, "{:,.2f} ms".format)
_Format: TypeAlias = Callable[[float], str]


def _apply_limit(
    suite: SuiteResult, amount: Amount, more: Amount, limit: float, forms: Sequence[_Format]
) -> tuple[Conclusion, str, str]:
    """The conclusion, the amount and the limit of a suite, of which `more` are calls that may be of other suites."""
    whole = add((amount, more)) if more else amount  # stored answers are no evidence that nothing else was asked
    conclusion = check_limit(whole, limit)
    if conclusion is Conclusion.FAILED and check_limit(amount, limit) is not Conclusion.FAILED:
        conclusion = Conclusion.UNMEASURABLE
    known, most = (round_off(find_known(each) or 0.0) for each in (amount, whole))
    known_text, most_text, limit_text = _format_amounts(known, most, limit, forms)
    text = "unknown" if find_known(amount) is None else known_text
    if find_known(more):
        text = f"{text}, up to {most_text} with calls of {suite.script} that name none of its suites"
    if find_known(amount) is not None and (missing := find_missing(whole)) is not None:
        text = f"at least {text}, as {missing.reason}"
    return conclusion, text, limit_text


def _format_amounts(known: float, most: float, limit: float, forms: Sequence[_Format]) -> tuple[str, str, str]:
    """Both amounts and the limit, with enough digits to show the limit and each difference to it."""
    texts = [(form(known), form(most), form(limit)) for form in forms]
    for *amounts, shown in texts:
        number = float(shown.strip("<$ ms").replace(",", ""))
        if abs(number - limit) <= _ROUNDING * limit and (shown not in amounts or known == most == limit):
            return amounts[0], amounts[1], shown
    return texts[-1] if limit else texts[0]


def compute_p95(values: Iterable[float]) -> float | None:
    """The 95th percentile by the nearest-rank method; NaN is ignored, None without values."""
    (p95,) = percentiles(values, 0.95)
    return p95


def measure_ratios(context: SuiteContext) -> Iterator[RatioTest]:
    """Measure the ratios to the baseline for which a limit is set: of cost, tokens and the 95th percentile."""
    limits, base = context.limits, context.base_suite
    if base is None:
        return
    for rule, name, limit, measure in (
        (COST_RATIO, "max_cost_ratio", limits.max_cost_ratio, Measure.COST),
        (TOKENS_RATIO, "max_tokens_ratio", limits.max_tokens_ratio, Measure.TOKENS),
        (P95_LATENCY_RATIO, "max_p95_ratio", limits.max_p95_ratio, Measure.LATENCY),
    ):
        if limit is not None:
            new, old = _measure(context.suite, measure), _measure(base, measure)
            origin = limits.find_origin(name)
            finding = Finding(
                *(rule, Conclusion.PASSED, "", f"≤ {limit:g} ×", origin, context.suite.label), bound=limit
            )
            yield _test_ratio(RatioTest(measure, finding), new, old)


def check_quantity_ratios(context: SuiteContext) -> Iterator[Finding]:
    """Cost, tokens and the 95th percentile of latency don't significantly exceed their multiples of the baseline.

    A limit that can't be applied gives a finding too, so that it is never absent without a reason.
    """
    base = context.base_suite
    for test in context.ratios if base is not None else ():
        yield _add_doubts(_conclude(test, context), context, base, test.measure)


def _conclude(test: RatioTest, context: SuiteContext) -> Finding:
    finding, needed = test.finding, context.families.shares.fewest_pairs
    if test.q is None:
        return finding
    if test.pairs < needed:
        noun = "case" if test.pairs == 1 else "cases"
        powerless = f"{finding.value}: can't fail with {test.pairs:,} {noun} ({needed:,} are needed)"
        if test.is_beyond and test.has_all_risen and test.pairs >= LEAST_CASES:
            return replace(finding, conclusion=Conclusion.UNMEASURABLE, value=powerless)
        return replace(finding, value=powerless, applied=False)
    if not test.is_beyond:
        return finding
    if test.q > context.criteria.alpha:
        value = f"{finding.value}: above the limit, within noise at {test.pairs:,} cases"
        return replace(finding, value=value, uncertain=True)
    return replace(finding, conclusion=Conclusion.FAILED)


@record
class _Amounts:
    """What a suite used.

    Attributes:
        suite: the suite.
        measure: the quantity.
        cases: the amounts of the cases.
        unnamed: the amount of the calls that belong to no case.
        is_stored: whether answers were read from a store, so that the amounts are those of only some calls.
    """

    suite: SuiteResult
    measure: Measure
    cases: Side
    unnamed: float
    is_stored: bool

    @property
    def is_known(self) -> bool:
        """Whether anything was used."""
        return bool(self.cases.means or self.unnamed)

    @property
    def total(self) -> float:
        """The amount of all trials, and of the calls that belong to no case."""
        return sum(value for value in QUANTITIES[self.measure](self.suite.columns) if value > 0) + self.unnamed

    @property
    def per_trial(self) -> float:
        """The total for each trial, so that suites with other cases or repeats can be compared."""
        return self.total / max(1, len(self.suite.columns))

    def spread(self) -> Side:
        """The amounts of the cases, each with an equal part of the calls that belong to no case."""
        part = self.unnamed / max(1, len(self.suite.columns))
        return quantity_side([self.suite.columns], partial(_add_to_each, measure=self.measure, part=part), is_paid=True)


def _add_to_each(columns: Columns, *, measure: Measure, part: float) -> list[float]:
    return [part if isnan(value) else value + part for value in QUANTITIES[measure](columns)]


def _measure(suite: SuiteResult, measure: Measure) -> _Amounts:
    is_paid = measure is not Measure.LATENCY
    usage = suite.other_usage if is_paid else None
    is_stored = bool(suite.columns.cached) or (is_paid and has_stored_answers(suite))
    cases = quantity_side([suite.columns], QUANTITIES[measure], is_paid=is_paid)
    return _Amounts(suite, measure, cases, _amount(usage, measure), is_stored)


def _amount(usage: Usage | None, measure: Measure) -> float:
    return find_known(measure_cost(usage) if measure is Measure.COST else count_tokens(usage)) or 0.0


def _test_ratio(test: RatioTest, new: _Amounts, old: _Amounts) -> RatioTest:
    """Unmeasurable if only the baseline has values; passed if only the run has them; not applied if neither has."""
    is_stored = new.is_stored or old.is_stored
    if not (new.is_known and old.is_known):
        return replace(test, finding=_describe_unknown(test.finding, new, old, is_stored=is_stored))
    sides = new.cases, old.cases
    if (new.unnamed or old.unnamed) and not is_stored:
        sides = new.spread(), old.spread()
        has_pairs = not new.cases.means.keys().isdisjoint(old.cases.means)
        if not has_pairs or any(each.unnamed > _MOST_UNNAMED * each.total for each in (new, old)):
            return replace(test, finding=_compare_totals(test.finding, new, old))
    test = _compare_cases(test, sides, new)
    if test.finding.applied or not is_stored:
        return test
    return replace(test, finding=replace(test.finding, value=_STORED))


def _describe_unknown(finding: Finding, new: _Amounts, old: _Amounts, *, is_stored: bool) -> Finding:
    if new.is_known == old.is_known or is_stored:
        return replace(finding, value=_STORED if is_stored else f"neither run knows its {new.measure}", applied=False)
    if new.is_known:
        return replace(finding, value="unknown in the baseline")
    return replace(finding, conclusion=Conclusion.UNMEASURABLE, value="unknown, though the baseline knows it")


def _compare_totals(finding: Finding, new: _Amounts, old: _Amounts) -> Finding:
    times = new.per_trial / old.per_trial
    has_same_cases = sorted(new.suite.columns.hashes) == sorted(old.suite.columns.hashes)
    value = f"{times:.2f} × the baseline's, by the totals of the suite{'' if has_same_cases else ' per trial'}"
    conclusion = Conclusion.FAILED if exceeds(times, finding.bound or 0.0) else Conclusion.PASSED
    return replace(finding, conclusion=conclusion, value=value)


def _compare_cases(test: RatioTest, sides: tuple[Side, Side], amounts: _Amounts) -> RatioTest:
    new, old = sides
    finding, limit = test.finding, test.finding.bound or 0.0
    is_p95 = amounts.measure is Measure.LATENCY
    columns = amounts.suite.columns
    ratio = compute_p95_ratio(new, old) if is_p95 else compute_total_ratio(new, old, columns)
    if ratio is None:
        finding = replace(finding, value="no case has a value in both runs", applied=False)
        return replace(test, finding=finding)
    value = f"{ratio.times:.2f} × the baseline's"
    if ratio.low is not None and ratio.high is not None:
        value += f" [{exp(ratio.low):.2f}, {exp(ratio.high):.2f}]"
    pairs = pair_sides(new, old, case_clusters(columns))
    return replace(
        test,
        finding=replace(finding, value=value),
        value=ratio.value,
        pairs=len(pairs.clusters),
        is_beyond=exceeds(ratio.times, limit),
        has_all_risen=pairs.rose == pairs.n,
        p=p95_test(new, old, columns) if is_p95 else total_test(pairs),
    )


def _add_doubts(finding: Finding, context: SuiteContext, base: SuiteResult | None, measure: Measure) -> Finding:
    """The finding; unmeasurable if calls may be missing on either side, unless it fails without them."""
    base_run, suite = context.comparison.base, context.suite
    if measure is Measure.LATENCY or base_run is None or base is None:
        return finding
    doubts = tuple(_find_doubts(context.comparison.run, suite, base, measure))
    base_doubts = tuple(f"{doubt} in the baseline" for doubt in _find_doubts(base_run, base, suite, measure))
    if not (doubts or base_doubts) or (finding.conclusion is Conclusion.FAILED and not base_doubts):
        return finding
    known = (finding.value,) if finding.applied else ()
    value = "; ".join((*known, *doubts, *base_doubts))
    return replace(finding, conclusion=Conclusion.UNMEASURABLE, value=value, applied=True)


def _find_doubts(run: Run, suite: SuiteResult, other: SuiteResult, measure: Measure) -> Iterator[str]:
    shared = find_shared_usage(run, suite)
    if _amount(shared, Measure.TOKENS) or _amount(shared, Measure.COST):
        yield f"calls of {suite.script} name none of its suites"
    if measure is Measure.COST and (missing := _find_unpriced(suite.cost, other.cost)) is not NOT_REPORTED:
        yield missing.reason


def _find_unpriced(cost: Amount, other: Amount) -> Unknown:
    """The models without a price. One without a price in both runs is left out of both costs."""
    names, others = (set(missing.names if (missing := find_missing(each)) else ()) for each in (cost, other))
    return lack_prices(names - others if find_known(cost) and find_known(other) else names)


def find_shared_usage(run: Run, suite: SuiteResult) -> Usage | None:
    """The usage of calls that may be of any suite of a suite's script; None without any."""
    return next((script.usage for script in run.scripts if script.name == suite.script), None)
