"""Means over cases: the mean of each case's trials first, then the mean of the cases, so that each case counts once.

A case has more trials than others if it was run again, and fewer if some met an error. This is no reason to weigh it
differently. Every mean score and pass rate of scoregate follows this rule. Costs and tokens are sums over trials, and
percentiles of latency are those of trials.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import compress
from math import fsum, isfinite
from statistics import fmean
from typing import TypeAlias

from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns, known_values
from scoregate.kernel.types.runs.cases import STATUSES, Status

TrialValue: TypeAlias = tuple[str, int, float]
"""The case, the slot and the value of a trial. See `number_slots` for slots."""


def average_cases(values: Iterable[TrialValue]) -> tuple[dict[str, float], dict[str, int]]:
    """The mean of each case, and the number of values of each case that has more than one.

    Args:
        values: the values of trials; those that are not finite are ignored.
    """
    means: dict[str, float] = {}
    repeated: dict[str, list[float]] = {}
    for case, _, value in values:
        if not isfinite(value):
            continue
        if case in means:
            repeated.setdefault(case, [means[case]]).append(value)
        else:
            means[case] = value
    for case, known in repeated.items():
        means[case] = fsum(known) / len(known)  # exact, so that the order in which trials finish changes no digit
    return means, {case: len(known) for case, known in repeated.items()}


def number_slots(runs: Iterable[Columns]) -> Iterator[tuple[Columns, Sequence[int]]]:
    """Yield the columns of each run with the slots of its rows.

    A slot is one repeat of one run. Trials of several cases in one slot may depend on each other, such as the turns of
    a conversation.
    """
    first = 0
    for columns in runs:
        yield columns, array("l", (first + repeat for repeat in columns.repeats)) if first else columns.repeats
        first += max(columns.repeats, default=0) + 1


def score_trials(runs: Iterable[Columns], evaluator: str) -> Iterator[TrialValue]:
    """Yield every score with its case and its slot, see `number_slots`.

    Scores from the same stored answers are yielded once, as they are no new evidence.

    Args:
        runs: the columns of one or several runs.
        evaluator: the id of the evaluator.
    """
    known = set[tuple[str, str]]()
    for columns, slots in number_slots(runs):
        scores = zip(columns.hashes, slots, columns.scores.get(evaluator, ()), strict=False)
        answers = columns.answers.get(evaluator)
        if answers is None:
            yield from scores
            continue
        for row, (case, slot, score) in enumerate(scores):
            answer = answers.get(row)
            if answer is not None:
                if (case, answer) in known:
                    continue
                known.add((case, answer))
            yield case, slot, score


def list_case_means(columns: Columns, evaluator: str) -> Sequence[float]:
    """The mean score of each case that has a score, in no particular order."""
    if not columns.has_repeats:  # each case has one trial; this takes a hundredth of the time
        return known_values(columns.scores.get(evaluator, ()))
    rows, means = columns.case_means.get(evaluator, (0, array("d")))
    if rows != len(columns):  # a report needs them five times, and 300,000 trials take half a second (measured)
        means = array("d", average_cases(score_trials([columns], evaluator))[0].values())
        columns.case_means[evaluator] = len(columns), means
    return means


def average_scores(columns: Columns, evaluator: str) -> float | None:
    """The mean score over cases; None without a score, and if a score is on no known scale."""
    means = [] if evaluator in columns.unscaled else list_case_means(columns, evaluator)
    return fmean(means) if means else None


@record
class PassRate:
    """How many trials pass, of those that passed or failed, and their share over cases.

    Attributes:
        cases: the number of cases with so many such trials, by the number of trials.
        passes: the number of trials of these cases that pass.
    """

    cases: Mapping[int, int] = field(default_factory=dict)
    passes: Mapping[int, int] = field(default_factory=dict)

    @property
    def passed(self) -> int:
        """The number of trials that pass."""
        return sum(self.passes.values())

    @property
    def judged(self) -> int:
        """The number of trials that pass or fail."""
        return sum(trials * number for trials, number in self.cases.items())

    @property
    def case_count(self) -> int:
        """The number of cases with a trial that passes or fails."""
        return sum(self.cases.values())

    @property
    def rate(self) -> float | None:
        """The share of a case's trials that pass, averaged over cases, in [0, 1]; None if no trial passes or fails."""
        if not self.cases:
            return None
        if len(self.cases) == 1:  # all cases have equally many trials, so the rate is the exact share of trials
            return self.passed / self.judged
        return fsum(passed / trials for trials, passed in self.passes.items()) / self.case_count

    @property
    def weights(self) -> str:
        """Why the rate isn't the share of trials that pass: `, each case counts once`; empty if it is."""
        return describe_weights(self.rate, self.passed, self.judged)


def describe_weights(rate: float | None, passed: int, judged: int) -> str:
    """Why a pass rate isn't the share of trials that pass, as a part of a sentence; empty if it is.

    Args:
        rate: the pass rate over cases, in [0, 1]; None if no trial passes or fails.
        passed: the number of trials that pass.
        judged: the number of trials that pass or fail.
    """
    return "" if not judged or rate == passed / judged else ", each case counts once"


def count_passes(suites: Iterable[Columns]) -> PassRate:
    """The pass rate of the cases of one or several suites."""
    codes = STATUSES.index(Status.PASSED), STATUSES.index(Status.FAILED)
    return _add_rates(_count_outcomes(columns, columns.statuses, *codes) for columns in suites)


def count_evaluator_passes(columns: Columns, evaluator: str) -> PassRate:
    """The pass rate of an evaluator's scores: of those with a threshold, those that meet it."""
    judged, failed = columns.judged.get(evaluator, 0), columns.failed.get(evaluator, set())
    if not columns.has_repeats:
        return _count_single(judged - len(failed), len(failed))
    verdicts = bytearray(len(columns))
    for row, score in enumerate(columns.scores.get(evaluator, ()) if judged else ()):
        threshold = columns.threshold(evaluator, row) if isfinite(score) else None
        if threshold is not None and threshold.holds(score) is not None:
            verdicts[row] = 2 if row in failed else 1
    return _count_outcomes(columns, verdicts, 1, 2)


def _count_outcomes(columns: Columns, outcomes: bytearray, passed: int, failed: int) -> PassRate:
    if not columns.has_repeats:
        return _count_single(outcomes.count(passed), outcomes.count(failed))
    has_passed, has_failed = (bytes(code == wanted for code in range(256)) for wanted in (passed, failed))
    return _count_cases(
        Counter(compress(columns.hashes, outcomes.translate(has_passed))),
        Counter(compress(columns.hashes, outcomes.translate(has_failed))),
    )


def count_verdicts(verdicts: Sequence[tuple[str, bool]]) -> PassRate:
    """The pass rate of some trials.

    Args:
        verdicts: whether each trial passed, with its case.
    """
    return _count_cases(
        Counter(case for case, has_passed in verdicts if has_passed),
        Counter(case for case, has_passed in verdicts if not has_passed),
    )


def _count_cases(passed: Counter[str], failed: Counter[str]) -> PassRate:
    """The pass rate of cases, from the number of trials of each that passed and failed."""
    cases, passes = Counter[int](), Counter[int]()
    for case, number in passed.items():
        trials = number + failed.get(case, 0)
        cases[trials] += 1
        passes[trials] += number
    cases.update(number for case, number in failed.items() if case not in passed)
    return PassRate(cases, passes)


def _count_single(passed: int, failed: int) -> PassRate:
    return PassRate({1: passed + failed}, {1: passed}) if passed + failed else PassRate()


def _add_rates(rates: Iterable[PassRate]) -> PassRate:
    cases, passes = Counter[int](), Counter[int]()
    for each in rates:
        cases.update(each.cases)
        passes.update(each.passes)
    return PassRate(cases, passes)
