"""One trial of one case: what went in, what came out, what was said of it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil, isnan
from typing import Any, NamedTuple

from scoregate.core.evaluation import Evaluation, Label, Threshold, Usage
from scoregate.core.events import ErrorInfo, Origin, PairwiseComparison


class Status(StrEnum):
    """A case's state: `failed` is certain, so it wins over `errored`; `scored` has no threshold to meet, or labels."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    SCORED = "scored"
    UNSCORED = "unscored"


STATUSES = tuple(Status)


class CaseKey(NamedTuple):
    """A case of a suite: its hash and which repeat of it, from 0."""

    hash: str
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class CaseError:
    """An error of one case; `evaluator` where an evaluator raised, else the function under test did.

    `usage` is what was used up before it.
    """

    error: ErrorInfo
    evaluator: str | None = None
    usage: Usage | None = None


@dataclass(slots=True)
class CaseResult:
    """Everything known of one trial of one case. `suite` is the index of its suite within the run.

    `labels` is what evaluators said without a score; `contests` are the outputs that people are to choose between, by
    those of the `pending` evaluators that have told them.
    `origin` is the line that the case was read from, where it stands in a file of its own. `reused` is the id of the
    run that measured it, where that was an earlier one.
    """

    suite: int
    hash: str
    repeat: int = 0
    name: str = ""
    input: Any = None
    output: Any = None
    truncated: bool = False
    duration_ms: float | None = None
    attempts: int = 1
    digest: str = ""
    tags: tuple[str, ...] = ()
    cluster: str | None = None
    evaluations: dict[str, Evaluation] = field(default_factory=dict)
    errors: list[CaseError] = field(default_factory=list)
    unscored: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    usage: Usage | None = None
    trace: Any = None
    labels: dict[str, Label] = field(default_factory=dict)
    origin: Origin | None = None
    contests: dict[str, PairwiseComparison] = field(default_factory=dict)
    reused: str | None = None

    @property
    def key(self) -> CaseKey:
        """What pairs this trial with another run's."""
        return CaseKey(self.hash, self.repeat)

    @property
    def status(self) -> Status:
        """The state of the whole case, over all its evaluations and errors."""
        passes = [evaluation.passed for evaluation in self.evaluations.values()]
        if False in passes:
            return Status.FAILED
        if self.errors:
            return Status.ERRORED
        if True in passes:
            return Status.PASSED
        return Status.SCORED if passes or self.labels else Status.UNSCORED


MISSING = float("nan")
# Of an evaluator; what more there are is counted as one.
MOST_LABELS, LONGEST_LABEL, OTHERS = 50, 100, "…"
_MOST_SILENT = 1_000
_MOST_UNPRICED = 50
_CODES = {status: code for code, status in enumerate(STATUSES)}


@dataclass(slots=True)
class Columns:
    """Rows in the order in which the trials finished; NaN where there is no number.

    `labels` counts, by evaluator, what was said without a score. `answers` names, by evaluator and row, the stored
    answers that a score was made from, where all are known; `cached` rows were not run but read, `reused` ones were
    measured by an earlier run. `contested` counts
    those of the `pending` evaluations for which people have two outputs to choose between. `silent` counts, by
    evaluator, the `unscored` trials: those in which it returned None. `deferred` are the rows, by evaluator, in which
    it gave a label, or waits for people, instead of giving a score. `unpriced` names models whose tokens have no price.
    `thresholds` is, by evaluator, that of its first score; `other_thresholds` has those that differ, by row.
    """

    hashes: list[str] = field(default_factory=list)
    repeats: array[int] = field(default_factory=lambda: array("l"))
    digests: list[str] = field(default_factory=list)
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
    answers: dict[str, dict[int, str]] = field(default_factory=dict)
    cached: set[int] = field(default_factory=set)
    reused: set[int] = field(default_factory=set)
    unscored: int = 0
    silent: dict[str, int] = field(default_factory=dict)
    deferred: dict[str, array[int]] = field(default_factory=dict)
    pending: int = 0
    contested: int = 0
    unpriced: set[str] = field(default_factory=set)
    thresholds: dict[str, Threshold | None] = field(default_factory=dict)
    other_thresholds: dict[str, dict[int, Threshold | None]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.hashes)

    def key(self, row: int) -> CaseKey:
        """The case and repeat of a row."""
        return CaseKey(self.hashes[row], self.repeats[row])

    def status(self, row: int) -> Status:
        """The state of the case in a row."""
        return STATUSES[self.statuses[row]]

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
        self._add_silent(case.unscored)
        self.pending += len(case.pending)
        for name in (*case.pending, *case.labels):
            if name in self.deferred or len(self.deferred) < _MOST_SILENT:
                self.deferred.setdefault(name, array("l")).append(row)
        self.contested += sum(name in case.contests for name in case.pending)
        if case.usage is not None and case.usage.cached:
            self.cached.add(row)
        if case.reused is not None:
            self.reused.add(row)
        self._add_usage(case)
        self._add_scores(row, case)

    def _add_silent(self, evaluators: tuple[str, ...]) -> None:
        for name in evaluators:
            if name in self.silent or len(self.silent) < _MOST_SILENT:
                self.silent[name] = self.silent.get(name, 0) + 1

    def _add_usage(self, case: CaseResult) -> None:
        usages = [case.usage, *[found.usage for found in case.evaluations.values()], *[e.usage for e in case.errors]]
        usages += [naming.usage for naming in case.labels.values()]
        known = [usage for usage in usages if usage is not None]
        costs = [usage.cost for usage in known if usage.cost is not None]
        self.costs.append(sum(costs) if costs else MISSING)
        self.tokens.append(sum(u.input_tokens + u.output_tokens for u in known) if known else MISSING)
        for usage in known:
            if len(self.unpriced) < _MOST_UNPRICED:
                self.unpriced.update(unpriced_models(usage))

    def _add_scores(self, row: int, case: CaseResult) -> None:
        for name, evaluation in case.evaluations.items():
            self._column(name, row).append(evaluation.score)
            if (answer := _answer_digest(case.usage, evaluation.usage)) is not None:
                self.answers.setdefault(name, {})[row] = answer
            first = self.thresholds.setdefault(name, evaluation.threshold)
            if evaluation.threshold is not first and evaluation.threshold != first:
                self.other_thresholds.setdefault(name, {})[row] = evaluation.threshold
            passed = evaluation.passed
            if passed is not None:
                self.judged[name] = self.judged.get(name, 0) + 1
            if passed is False:
                self.failed.setdefault(name, set()).add(row)
        for name, naming in case.labels.items():
            counts = self.labels.setdefault(name, {})
            label = naming.label[:LONGEST_LABEL]
            label = label if label in counts or len(counts) < MOST_LABELS else OTHERS
            counts[label] = counts.get(label, 0) + 1
        for error in case.errors:
            if error.evaluator is not None:
                self._column(error.evaluator, row)
                self.errored.setdefault(error.evaluator, set()).add(row)

    def _column(self, evaluator: str, row: int) -> array[float]:
        column = self.scores.setdefault(evaluator, array("d"))
        if len(column) < row:
            column.extend([MISSING] * (row - len(column)))
        return column

    def score(self, evaluator: str, row: int) -> float:
        """The score in a row; NaN where the evaluator gave none."""
        column = self.scores.get(evaluator)
        return column[row] if column is not None and row < len(column) else MISSING

    def threshold(self, evaluator: str, row: int) -> Threshold | None:
        """The threshold of the score in a row."""
        return self.other_thresholds.get(evaluator, {}).get(row, self.thresholds.get(evaluator))

    def erring(self) -> set[int]:
        """The rows in which anything raised."""
        errored = STATUSES.index(Status.ERRORED)
        whole = (row for row, status in enumerate(self.statuses) if status == errored)
        return set().union(whole, *self.errored.values())

    def count(self, status: Status) -> int:
        """How many trials are in this state."""
        return self.statuses.count(STATUSES.index(status))


def unpriced_models(usage: Usage) -> tuple[str, ...]:
    """The model that has used tokens at no known price, if it is one."""
    free = usage.cost is not None or not usage.input_tokens + usage.output_tokens
    return () if free else ((usage.model or "a model")[:LONGEST_LABEL],)


def percentiles(values: Iterable[float], *shares: float) -> tuple[float | None, ...]:
    """For each share, in (0, 1], the smallest value that so many of the known ones do not exceed.

    None where none is known.
    """
    known = sorted(value for value in values if not isnan(value))
    return tuple(known[ceil(share * len(known)) - 1] if known else None for share in shares)


def _answer_digest(output: Usage | None, judgement: Usage | None) -> str | None:
    """What a score was made from; None where any of it may be new. Who used no model to judge judges alike again."""
    if output is None or output.answer is None:
        return None
    if judgement is None:
        return output.answer
    return None if judgement.answer is None else f"{output.answer} {judgement.answer}"
