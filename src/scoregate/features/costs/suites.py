"""The estimate of one suite, from its trials in the base's run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from enum import StrEnum
from math import ceil, sqrt
from statistics import fmean, variance

from scoregate.features.costs.pricing import describe_unpriced
from scoregate.features.costs.section import Interval
from scoregate.features.costs.trials import Amounts, SuiteTrials, Trial, sum_amounts
from scoregate.kernel.compare.statistics.distributions import t_quantile
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import known_values, percentiles
from scoregate.kernel.types.selection import CaseLabels

_QUANTILE = 0.95  # at both ends of a 90 % interval
# Lengths of answers and retries differ between runs even if all cases of one run cost the same.
_LEAST_SPREAD = 0.05
_ONLY_SAMPLE = "the suite doesn't report how many cases it has, so this is only the cost of the sample"


class SuiteState(StrEnum):
    """Where the estimate of a suite comes from."""

    BASE = "base"
    PROBE = "probe"
    NOT_AFFECTED = "not affected"
    NONE = "no estimate"


@record
class SuiteEstimate:
    """What a suite is expected to use.

    Attributes:
        label: the label of the suite; the name of the script if its suites are not known.
        script: the script that is launched for it.
        state: where the estimate comes from.
        cases: the number of cases; None if unknown.
        trials: the number of their trials; None if unknown.
        amounts: the expected calls, tokens and US dollars.
        stored: how many more calls stored answers replace.
        cost: US dollars; None if unknown.
        per_case: the cost of a case without stored answers: the median, and the 5th and 95th percentile.
        full_cost: US dollars if no answer were stored.
        seconds: the duration.
        unpriced: the models whose price is unknown; their calls are in no cost.
        note: what the estimate leaves out, or why there is none.
    """

    label: str
    script: str
    state: SuiteState
    cases: int | None = None
    trials: int | None = None
    amounts: Amounts = field(default_factory=Amounts)
    stored: float = 0.0
    cost: Interval | None = None
    per_case: Interval | None = None
    full_cost: float | None = None
    seconds: Interval | None = None
    unpriced: tuple[str, ...] = ()
    note: str = ""


@record
class SuiteChoice:
    """Which trials of a suite run.

    Attributes:
        takes: whether a case runs.
        sample: the number of cases of a random sample; None for all.
        max_cases: the number of first cases; None for all.
        repeats: how often a case runs now and in the base's run, if the settings of either say so.
        total: the number of trials of the whole suite, if it is known.
        same_code: whether nothing has changed since the base's run, so that its answers are those that are asked for.
        concurrency: how many cases run at once, if only sample cases are known; they are too few to show it.
    """

    takes: Callable[[CaseLabels], bool] | None = None
    sample: int | None = None
    max_cases: int | None = None
    repeats: tuple[int, int] | None = None
    total: int | None = None
    same_code: bool = False
    concurrency: int | None = None


def estimate_suite(
    base: SuiteTrials, script: str, choice: SuiteChoice, *, state: SuiteState = SuiteState.BASE
) -> SuiteEstimate:
    """Estimate what a suite uses.

    Args:
        base: its trials in an earlier run.
        script: the script that is launched for it.
        choice: which trials run.
        state: where the trials are from.
    """
    suite = base.suite
    chosen = _repeat_cases(_group_cases(base.trials, choice), choice)
    if not chosen:
        return SuiteEstimate(suite.label, script, state, 0, 0, cost=Interval() if _is_counted(base) else None)
    scale = _find_scale(base, chosen, choice)
    now = sum_amounts(trial.now.times(weight) for trial, weight in chosen)
    full = sum_amounts(trial.full.times(weight) for trial, weight in chosen)
    more = full.times(max(0.0, scale - 1))  # the answers of further cases are not stored
    now, full = now.times(min(1.0, scale)).plus(more), full.times(scale)
    share = min(1.0, sum(weight for _, weight in chosen) * scale / max(1, len(base.trials)))
    now, full = now.plus(base.rest.times(share)), full.plus(base.rest.times(share))
    spread = _measure_spread(base.trials, chosen, scale)
    cost = _make_interval(now.cost, spread * sqrt(now.cost / full.cost) if full.cost else 0.0)
    if not choice.same_code:  # another prompt has other answers than the stored ones
        cost = Interval(cost.low, cost.expected, max(cost.high, _make_interval(full.cost, spread).high))
    # What the answers of a changed prompt cost is not known if all of the base's came from a store.
    is_counted = _is_counted(base) and (choice.same_code or not base.stored_calls)
    is_only_sample = state is SuiteState.PROBE and choice.total is None
    trials = round(sum(weight for _, weight in chosen) * scale)
    hashes = len({trial.labels.hash for trial, _ in chosen})
    return SuiteEstimate(
        suite.label,
        script,
        state,
        round(hashes * scale),
        trials,
        now,
        stored=sum(trial.stored * weight for trial, weight in chosen) * min(1.0, scale),
        cost=cost if is_counted else None,
        per_case=_measure_cases(base.trials),
        full_cost=full.cost if is_counted else None,
        seconds=_estimate_seconds(base, trials, now, full, concurrency=choice.concurrency),
        unpriced=tuple(sorted(base.unpriced)),
        note="; ".join(filter(None, (_describe_gaps(base, choice), _ONLY_SAMPLE if is_only_sample else ""))),
    )


def _is_counted(base: SuiteTrials) -> bool:
    """Whether a cost is known: a model was called, and not all calls were answered from a store or lack a price."""
    parts = [part for trial in base.trials for part in trial.parts]
    has_cost = any(trial.full.cost for trial in base.trials) or base.rest.cost > 0
    return bool(parts or base.rest.calls) and (has_cost or not (base.unpriced or base.unknown_calls))


def _group_cases(trials: Iterable[Trial], choice: SuiteChoice) -> list[list[Trial]]:
    """The trials of each case that runs."""
    cases = defaultdict[str, list[Trial]](list)
    for trial in trials:
        if choice.takes is None or choice.takes(trial.labels):
            cases[trial.labels.hash].append(trial)
    return list(cases.values())


def _repeat_cases(cases: Sequence[list[Trial]], choice: SuiteChoice) -> list[tuple[Trial, float]]:
    """The trials that run, each with how often one like it does. More repeats than before have no stored answers."""
    weighted: list[tuple[Trial, float]] = []
    for trials in cases:
        if choice.repeats is None or len(trials) != choice.repeats[1]:
            weighted += ((trial, 1.0) for trial in trials)
            continue
        new, before = choice.repeats
        weighted += ((trial, 1.0) for trial in trials[:new])
        for trial in trials if new > before else ():
            fresh = Trial(trial.labels, trial.repeat, trial.parts, trial.full, trial.full, is_known=trial.is_known)
            weighted.append((fresh, (new - before) / before))
    return weighted


def _find_scale(base: SuiteTrials, chosen: Sequence[tuple[Trial, float]], choice: SuiteChoice) -> float:
    """How many times as many trials run as are chosen, because cases are left out, or more of them are known."""
    count, cases = sum(weight for _, weight in chosen), len({trial.labels.hash for trial, _ in chosen})
    scale = 1.0
    if choice.takes is None and choice.total is not None:
        scale = choice.total / count
    elif choice.takes is None and base.suite.planned:
        scale = max(1.0, base.suite.planned / max(1, len(base.trials)))
    limits = [limit for limit in (choice.sample, choice.max_cases) if limit is not None]
    return scale * min(1.0, *(limit / (cases * scale) for limit in limits)) if limits and scale else scale


def _measure_spread(all_trials: Sequence[Trial], chosen: Sequence[tuple[Trial, float]], scale: float) -> float:
    """Half the width of the 90 % interval of the cost without stored answers.

    Two runs of the same cases differ by what one trial differs from another of its case. Where each case has one
    trial, the spread between cases is used, which is wider.
    """
    cases = defaultdict[str, list[float]](list)
    for trial in all_trials:
        cases[trial.labels.hash].append(trial.full.cost)
    repeated = [costs for costs in cases.values() if len(costs) > 1]
    freedom = sum(len(costs) - 1 for costs in repeated)
    if freedom:
        deviation = sqrt(sum(variance(costs) * (len(costs) - 1) for costs in repeated) / freedom)
    else:
        singles = [costs[0] for costs in cases.values()]
        freedom = len(singles) - 1
        deviation = sqrt(variance(singles)) if freedom else singles[0]
    number, measured = sum(weight for _, weight in chosen) * scale, len(all_trials)
    # The trials to come vary, and so does the mean that is known from the measured ones.
    return t_quantile(_QUANTILE, max(1, freedom)) * deviation * sqrt(number + number * number / measured)


def _make_interval(expected: float, half_width: float) -> Interval:
    width = max(half_width, _LEAST_SPREAD * expected)
    return Interval(max(0.0, expected - width), expected, expected + width)


def _measure_cases(trials: Sequence[Trial]) -> Interval | None:
    costs = defaultdict[str, float](float)
    for trial in trials:
        costs[trial.labels.hash] += trial.full.cost
    low, middle, high = percentiles(costs.values(), 0.05, 0.5, 0.95)
    if low is None or middle is None or high is None or not high:
        return None
    return Interval(low, middle, high)


def _estimate_seconds(
    base: SuiteTrials, trials: float, now: Amounts, full: Amounts, *, concurrency: int | None
) -> Interval | None:
    """The duration of a suite, in proportion to its trials, or to the rounds of as many as run at once."""
    columns = base.suite.columns
    known = [each / 1000 for each in known_values(columns.durations_ms)]
    seconds = base.suite.duration_s if base.suite.duration_s is not None else sum(known)
    if not len(columns):
        return None
    share = now.calls / full.calls if full.calls else 1.0
    rounds = trials / len(columns)
    if concurrency is not None:
        rounds = max(1.0, trials / concurrency) / ceil(len(columns) / concurrency)
    expected = seconds * rounds * share
    relative = sqrt(variance(known)) / fmean(known) if len(known) > 1 and fmean(known) else 0.0
    # 1.645 standard deviations are half of a 90 % interval of the normal distribution.
    return _make_interval(expected, min(1.0, relative * sqrt(2 / max(1, len(known))) * 1.645) * expected)


def _describe_gaps(base: SuiteTrials, choice: SuiteChoice) -> str:
    notes = [describe_unpriced(name) for name in sorted(base.unpriced)]
    if base.unknown_calls:
        notes.append(
            f"{base.unknown_calls:,} calls were answered from a cache in the base's run, and are not stored here: their"
            " cost is not known"
        )
    if base.stored_calls and not choice.same_code:
        notes.append(
            f"{base.stored_calls:,} calls were answered from a cache in the base's run: what they cost if the change"
            " asks something else is not known"
        )
    if not base.suite.complete:
        notes.append("the base's run of it is not complete")
    return "; ".join(notes)
