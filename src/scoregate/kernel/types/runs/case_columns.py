"""All trials of a suite in columns, so that large runs need little memory."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TypeVar

from scoregate.kernel.types.amounts import exceeds_share
from scoregate.kernel.types.evaluation import Threshold, Usage
from scoregate.kernel.types.runs.cases import STATUSES, CaseKey, CaseResult, Status
from scoregate.kernel.types.runs.text_column import TextColumn

_V = TypeVar("_V")
MISSING = float("nan")
# Per evaluator; further labels are counted as OTHERS.
MOST_LABELS, LONGEST_LABEL, OTHERS = 50, 100, "…"
_MOST_EVALUATORS = 1_000
_MOST_UNPRICED = 50
_CODES = {status: code for code, status in enumerate(STATUSES)}


@dataclass(slots=True)
class Columns:
    """The trials of a suite in columns, one row per trial, in the order in which they finished; NaN for no number.

    Attributes:
        hashes: the hash of each row's case.
        repeats: the repeat of each row.
        digests: the digest of each row's case.
        statuses: the status of each row, as an index into `STATUSES`.
        durations_ms: the duration of each row, in milliseconds.
        costs: the cost of each row, in US dollars.
        tokens: the input and output tokens of each row.
        tags: the tags, by row.
        clusters: the cluster, by row.
        scores: the score of each row, by evaluator.
        labels: the number of trials with a label, by evaluator and label.
        failed: the rows that failed, by evaluator.
        judged: the number of scores with a threshold, by evaluator.
        errored: the rows in which the evaluator raised, by evaluator.
        unscaled: the rows with a score outside [0, 1] of an evaluator without a scale, by evaluator.
        answers: the stored answers that a score was made from, by evaluator and row; only if all are known.
        cached: the rows whose output was read from a store.
        partly_paid: the rows for which an answer of a model, also a judge's, was read from a store.
        sources: the number of each row's source, see `Trials`; empty if this run measured all.
        unscored, unscored_counts: the number of evaluations that returned None, and the same by evaluator.
        deferred: the rows with a label or a pending review instead of a score, by evaluator.
        pending: the number of evaluations that wait for a review.
        contested: the number of pending evaluations in which people choose between two outputs.
        unpriced: the models whose tokens have no known price.
        thresholds: the threshold of the first score, by evaluator.
        other_thresholds: the thresholds that differ from it, by evaluator and row.
        case_means: the mean score of each case by evaluator, with the number of rows that they are of. Only
            `case_means.list_case_means` uses it, for cases with several trials.
    """

    hashes: list[str] | TextColumn = field(default_factory=list)
    repeats: array[int] = field(default_factory=lambda: array("l"))
    digests: TextColumn = field(default_factory=TextColumn)
    statuses: bytearray = field(default_factory=bytearray)
    durations_ms: array[float] = field(default_factory=lambda: array("d"))
    costs: array[float] = field(default_factory=lambda: array("d"))
    tokens: array[float] = field(default_factory=lambda: array("d"))
    tags: dict[int, tuple[str, ...]] = field(default_factory=dict)
    clusters: dict[int, str] = field(default_factory=dict)
    scores: dict[str, array[float]] = field(default_factory=dict)
    labels: dict[str, dict[str, int]] = field(default_factory=dict)
    failed: dict[str, set[int]] = field(default_factory=dict)
    judged: dict[str, int] = field(default_factory=dict)
    errored: dict[str, set[int]] = field(default_factory=dict)
    unscaled: dict[str, set[int]] = field(default_factory=dict)
    answers: dict[str, dict[int, str]] = field(default_factory=dict)
    cached: set[int] = field(default_factory=set)
    partly_paid: set[int] = field(default_factory=set)
    sources: bytearray = field(default_factory=bytearray)
    unscored: int = 0
    unscored_counts: dict[str, int] = field(default_factory=dict)
    deferred: dict[str, array[int]] = field(default_factory=dict)
    pending: int = 0
    contested: int = 0
    unpriced: set[str] = field(default_factory=set)
    thresholds: dict[str, Threshold | None] = field(default_factory=dict)
    other_thresholds: dict[str, dict[int, Threshold | None]] = field(default_factory=dict)
    case_means: dict[str, tuple[int, array[float]]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.hashes)

    def key(self, row: int) -> CaseKey:
        """The case and repeat of a row."""
        return CaseKey(self.hashes[row], self.repeats[row])

    def status(self, row: int) -> Status:
        """The status of the trial in a row."""
        return STATUSES[self.statuses[row]]

    def failed_evaluators(self, row: int) -> set[str]:
        """The evaluators in which a trial failed."""
        return {name for name, rows in self.failed.items() if row in rows}

    def add(self, case: CaseResult) -> None:
        """Append a finished trial."""
        row = len(self.hashes)
        self.hashes.append(case.hash)
        self.repeats.append(case.repeat)
        self.digests.append(case.digest)
        self.statuses.append(_CODES[case.status])
        self.durations_ms.append(MISSING if case.duration_ms is None else case.duration_ms)
        if case.tags:
            self.tags[row] = case.tags
        if case.cluster is not None:
            self.clusters[row] = case.cluster
        self.unscored += len(case.unscored)
        for name in case.unscored:
            if name in self.unscored_counts or len(self.unscored_counts) < _MOST_EVALUATORS:
                self.unscored_counts[name] = self.unscored_counts.get(name, 0) + 1
        if case.pending or case.labels:
            self.pending += len(case.pending)
            for name in (*case.pending, *case.labels):
                if name in self.deferred or len(self.deferred) < _MOST_EVALUATORS:
                    self.deferred.setdefault(name, array("l")).append(row)
            self.contested += sum(name in case.contests for name in case.pending)
        if case.usage is not None and case.usage.cached:
            self.cached.add(row)
        self.sources.append(case.reused is not None)
        self._add_usage(row, case)
        self._add_scores(row, case)

    def _add_usage(self, row: int, case: CaseResult) -> None:
        known = [] if case.usage is None else [case.usage]
        known += [each.usage for each in case.evaluations.values() if each.usage is not None]
        known += [each.usage for each in case.errors if each.usage is not None]
        known += [each.usage for each in case.labels.values() if each.usage is not None]
        if not known:
            self.costs.append(MISSING)
            self.tokens.append(MISSING)
            return
        costs = [usage.cost for usage in known if usage.cost is not None]
        self.costs.append(sum(costs) if costs else MISSING)
        self.tokens.append(sum(usage.input_tokens + usage.output_tokens for usage in known))
        for usage in known:
            if usage.cached or usage.stored:
                self.partly_paid.add(row)
            if len(self.unpriced) < _MOST_UNPRICED:
                self.unpriced.update(name[:LONGEST_LABEL] for name in usage.unpriced_models)

    def _add_scores(self, row: int, case: CaseResult) -> None:
        for name, evaluation in case.evaluations.items():
            score, threshold = evaluation.score, evaluation.threshold
            self._column(name, row).append(score)
            if case.usage is not None and (answer := _stored_answers(case.usage, evaluation.usage)) is not None:
                self.answers.setdefault(name, {})[row] = answer
            first = self.thresholds.setdefault(name, threshold)
            if threshold is not first and threshold != first:
                self.other_thresholds.setdefault(name, {})[row] = threshold
            if threshold is not None and (passed := threshold.holds(score)) is not None:
                self.judged[name] = self.judged.get(name, 0) + 1
                if not passed:
                    self.failed.setdefault(name, set()).add(row)
        for name, given in case.labels.items():
            counts = self.labels.setdefault(name, {})
            label = given.label[:LONGEST_LABEL]
            label = label if label in counts or len(counts) < MOST_LABELS else OTHERS
            counts[label] = counts.get(label, 0) + 1
        for error in case.errors:
            if error.evaluator is not None:
                self._column(error.evaluator, row)
                if error.lacks_scale:
                    self.unscaled.setdefault(error.evaluator, set()).add(row)
                    continue
                self.errored.setdefault(error.evaluator, set()).add(row)

    def _column(self, evaluator: str, row: int) -> array[float]:
        if (column := self.scores.get(evaluator)) is None:
            column = self.scores[evaluator] = array("d")
        if len(column) < row:
            column.extend([MISSING] * (row - len(column)))
        return column

    def score(self, evaluator: str, row: int) -> float:
        """The score in a row; NaN without one."""
        column = self.scores.get(evaluator)
        return column[row] if column is not None and row < len(column) else MISSING

    def threshold(self, evaluator: str, row: int) -> Threshold | None:
        """The threshold of the score in a row."""
        return self.other_thresholds.get(evaluator, {}).get(row, self.thresholds.get(evaluator))

    def with_rare_unscaled_as_errors(self, limit: float) -> Columns:
        """The columns in which an evaluator lacks a scale only if enough of its scores are outside [0, 1].

        Args:
            limit: the largest share of scores that are errors of their cases instead.
        """
        counts = {name: (rows, self._count_scores(name)) for name, rows in self.unscaled.items()}
        rare = {name: rows for name, (rows, total) in counts.items() if not exceeds_share(len(rows), total, limit)}
        if not rare:
            return self
        statuses, failed = bytearray(self.statuses), _CODES[Status.FAILED]
        for row in set().union(*rare.values()):
            statuses[row] = failed if statuses[row] == failed else _CODES[Status.ERRORED]
        return replace(
            self,
            statuses=statuses,
            errored={**self.errored, **{name: self.errored.get(name, set()) | rows for name, rows in rare.items()}},
            unscaled={name: rows for name, rows in self.unscaled.items() if name not in rare},
        )

    def _count_scores(self, evaluator: str) -> int:
        """The number of scores of an evaluator, with those outside [0, 1]."""
        valid = len(known_values(self.scores.get(evaluator, ())))
        return valid + len(self.unscaled.get(evaluator, ()))

    def select(self, rows: Sequence[int]) -> Columns:
        """Some of the rows, as a comparison needs them: without counts of labels and reviews.

        Args:
            rows: the places of the rows, in order.
        """
        places = {row: index for index, row in enumerate(rows)}

        def move(chosen: Iterable[int]) -> set[int]:
            return {places[row] for row in chosen if row in places}

        def move_values(values: dict[int, _V]) -> dict[int, _V]:
            return {places[row]: value for row, value in values.items() if row in places}

        def pick(values: array[float]) -> array[float]:
            return array("d", (values[row] for row in rows) if len(values) else ())

        return Columns(
            hashes=[self.hashes[row] for row in rows],
            repeats=array("l", (self.repeats[row] for row in rows)),
            digests=TextColumn(self.digests[row] for row in rows),
            statuses=bytearray(self.statuses[row] for row in rows),
            durations_ms=pick(self.durations_ms),
            costs=pick(self.costs),
            tokens=pick(self.tokens),
            tags=move_values(self.tags),
            clusters=move_values(self.clusters),
            scores={name: array("d", (self.score(name, row) for row in rows)) for name in self.scores},
            failed={name: move(chosen) for name, chosen in self.failed.items()},
            errored={name: move(chosen) for name, chosen in self.errored.items()},
            unscaled={name: move(chosen) for name, chosen in self.unscaled.items()},
            answers={name: move_values(known) for name, known in self.answers.items()},
            cached=move(self.cached),
            partly_paid=move(self.partly_paid),
            sources=bytearray(self.sources[row] for row in rows if self.sources),
            deferred={name: array("l", sorted(move(chosen))) for name, chosen in self.deferred.items()},
            thresholds=self.thresholds,
            other_thresholds={name: move_values(known) for name, known in self.other_thresholds.items()},
        )

    @property
    def reused(self) -> int:
        """The number of rows that another run measured, or an attempt of this run that did not finish."""
        return self.sources.count(1)

    def rows_from(self, sources: Collection[int]) -> set[int]:
        """The rows that some sources measured.

        Args:
            sources: their numbers.
        """
        return {row for row, source in enumerate(self.sources or bytes(len(self))) if source in sources}

    def sum_usage(self) -> Usage | None:
        """The known usage of all rows; None without any."""
        costs, tokens = known_values(self.costs), list(map(int, known_values(self.tokens)))
        if not (costs or tokens):
            return None
        unpriced = ", ".join(sorted(self.unpriced)) or None
        return Usage(
            sum(tokens),
            cost=sum(costs) if costs else None,
            model=unpriced,
            calls=0,
            stored=len(self.partly_paid),
            unpriced=unpriced if costs else None,
        )

    def errored_rows(self) -> set[int]:
        """The rows in which the function under test or an evaluator raised."""
        return set().union(self.rows_with(Status.ERRORED), *self.errored.values())

    def rows_with(self, status: Status) -> list[int]:
        """The rows of the trials with this status."""
        code = _CODES[status]
        return [row for row, each in enumerate(self.statuses) if each == code] if code in self.statuses else []

    @property
    def case_count(self) -> int:
        """The number of cases, each counted once, however often it was repeated."""
        return len(set(self.hashes)) if self.has_repeats else len(self.hashes)

    @property
    def has_repeats(self) -> bool:
        """Whether a case may have several trials."""
        return any(self.repeats)

    def count_noun(self, number: int) -> str:
        """A number of rows with what they are: `1 case`, `2 cases`, or `2 trials` with repeats."""
        return f"{number:,} {'trial' if self.has_repeats else 'case'}{'' if number == 1 else 's'}"

    def count(self, status: Status) -> int:
        """The number of trials with this status."""
        return self.statuses.count(STATUSES.index(status))


def _stored_answers(task: Usage, judgement: Usage | None) -> str | None:
    """The stored answers that a score was made from; None if a part may be new.

    An evaluator that used no model gives the same output the same score.
    """
    if task.answer is None:
        return None
    if judgement is None:
        return task.answer
    return None if judgement.answer is None else f"{task.answer} {judgement.answer}"


def known_values(column: Iterable[float]) -> list[float]:
    """The numbers of a column that are not missing."""
    return [value for value in column if value == value]  # noqa: PLR0124 - half the time of `isnan`


def percentiles(values: Iterable[float], *shares: float) -> tuple[float | None, ...]:
    """Percentiles by the nearest-rank method.

    Args:
        values: any numbers; NaN is ignored.
        shares: shares in (0, 1], such as 0.95 for the 95th percentile.

    Returns:
        For each share the smallest value that at least this share of the values doesn't exceed; None without values.
    """
    known = sorted(known_values(values))
    return tuple(known[ceil(share * len(known)) - 1] if known else None for share in shares)
