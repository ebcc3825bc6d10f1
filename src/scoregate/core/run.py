"""A run: what was measured, with its history and confirmations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import isnan
from typing import Any, NamedTuple

from scoregate.core.cases import CaseResult, Columns, Status, unpriced_models
from scoregate.core.evaluation import Usage
from scoregate.core.events import ErrorInfo, EvaluatorInfo, Origin

PASSES = 2
FAILURES = 3
MOST_TRIES = 4


class Outcome(StrEnum):
    """What the tries come to."""

    CONFIRMED = "confirmed"
    CLEARED = "cleared"
    FAILS_IN_BASE = "fails in the base too"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A newly failing case and its further tries, True for each that passed; the first failure is not among them.

    `suite` is a label; `base_tries` are those of the base, empty where it could not be run again.
    """

    suite: str
    case: str
    tries: tuple[bool, ...]
    base_tries: tuple[bool, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Two passes clear it; three failures confirm it, unless the base fails as often."""
        if not is_decided(self.tries):
            return Outcome.OPEN
        if self.tries.count(True) >= PASSES:
            return Outcome.CLEARED
        return Outcome.FAILS_IN_BASE if self.base_tries.count(False) >= FAILURES else Outcome.CONFIRMED


def is_decided(tries: Sequence[bool]) -> bool:
    """Whether no further try is needed; after four there never is."""
    return tries.count(True) >= PASSES or tries.count(False) >= FAILURES


MOST_RUNS = 20
MOST_SERIES = 500
MOST_BYTES = 256 * 1024
LONGEST = 200


class Score(NamedTuple):
    """What an evaluator gave in a run: its mean in [0, 1] over `n` trials.

    `made_by` is a digest of what the evaluator was; empty where that is not known.
    """

    mean: float
    n: int
    made_by: str = ""


class SuiteMetrics(NamedTuple):
    """What a suite or a run came to: its pass rate in [0, 1], US dollars, the median of its trials; None if unknown."""

    pass_rate: float | None = None
    cost: float | None = None
    p50_ms: float | None = None


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run that was. `finished` are seconds since the epoch; texts are of at most LONGEST characters."""

    id: str
    finished: float
    took: SuiteMetrics
    commit: str | None = None
    branch: str | None = None
    message: str | None = None
    dirty: bool = False
    complete: bool = True


@dataclass(frozen=True, slots=True)
class SuiteHistory:
    """One suite: a place for each run of the history, None where the suite or its evaluator was not in it."""

    took: tuple[SuiteMetrics | None, ...] = ()
    scores: Mapping[str, tuple[Score | None, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class History:
    """The last runs of a line, oldest first, and their suites by label.

    At most MOST_RUNS runs, MOST_SERIES columns and MOST_BYTES of JSON; what is more is left out by whole columns.
    """

    runs: tuple[PastRun, ...] = ()
    suites: Mapping[str, SuiteHistory] = field(default_factory=dict)

    def series(self) -> Iterator[tuple[SuiteMetrics | Score | None, ...]]:
        """Every column."""
        for suite in self.suites.values():
            yield suite.took
            yield from suite.scores.values()

    def of(self, suite: str) -> SuiteHistory:
        """What is known of a suite, by its label."""
        return self.suites.get(suite, SuiteHistory())


RECORD_VERSION = 1


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """One suite of a run.

    `label` is unique within the run: the id, with its parameters, qualified by file where two suites share it.
    `complete` is False when the suite never said that it finished, or fewer trials did than were planned or started;
    `unfinished` are those that started only. `script` is what was launched for it.
    `usage` is what models took for it that belongs to no case: threads of the user's own do not know theirs.
    `sdk` is what its suite was written with, None where it did not say.
    `skipped` means that a filter left it out. `variants` are the runs of a grid search, one for each combination.
    """

    id: str
    label: str
    origin: Origin | None = None
    script: str | None = None
    evaluators: Mapping[str, EvaluatorInfo] = field(default_factory=dict)
    params: Mapping[str, Any] | None = None
    planned: int | None = None
    errors: tuple[ErrorInfo, ...] = ()
    reviews: tuple[str, ...] = ()
    complete: bool = False
    assertion_failed: bool = False
    duration_s: float | None = None
    usage: Usage | None = None
    sdk: str | None = None
    columns: Columns = field(default_factory=Columns)
    read: Callable[[], Iterable[CaseResult]] | None = None
    skipped: bool = False
    unfinished: int = 0
    variants: tuple[SuiteResult, ...] = ()

    @property
    def cases(self) -> Iterator[CaseResult]:
        """The trials, read from disk one by one."""
        return iter(self.read() if self.read is not None else ())

    @property
    def passed(self) -> bool:
        """Whether the suite finished and no case of it failed or errored, and an evaluator was asked."""
        if self.skipped or self.variants:
            return all(variant.passed for variant in self.variants)
        bad = self.columns.count(Status.FAILED) + self.columns.count(Status.ERRORED)
        asked = self.evaluations + self.columns.unscored + self.pending
        return self.complete and not bad and not self.errors and asked > 0

    @property
    def evaluations(self) -> int:
        """Evaluations made: scores and labels."""
        made = sum(sum(1 for score in column if not isnan(score)) for column in self.columns.scores.values())
        return made + sum(sum(counts.values()) for counts in self.columns.labels.values())

    @property
    def pending(self) -> int:
        """Evaluations that wait for a person: of cases, and of the suite's outputs."""
        return self.columns.pending + len(self.reviews)

    @property
    def cost(self) -> float | None:
        """What models took for all of it, in US dollars; None where no price is known."""
        usage = self.usage
        return _sum_known([*self.columns.costs, *([] if usage is None or usage.cost is None else [usage.cost])])

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The models of which no price is known, so that `cost` is too low."""
        return tuple(sorted({*self.columns.unpriced, *(unpriced_models(self.usage) if self.usage else ())}))

    @property
    def tokens(self) -> float | None:
        """The tokens that models took for all of it; None where that is not known."""
        usage = self.usage
        return _sum_known(
            [*self.columns.tokens, *([] if usage is None else [usage.input_tokens + usage.output_tokens])]
        )

    def mean(self, evaluator: str) -> float | None:
        """The mean score over the trials that have one; None where none has."""
        valid = [score for score in self.columns.scores.get(evaluator, ()) if not isnan(score)]
        return sum(valid) / len(valid) if valid else None


def _sum_known(values: Iterable[float]) -> float | None:
    known = [value for value in values if not isnan(value)]
    return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class Script:
    """One thing that was launched, and how it ended. `exit_code` is negative for a signal, None if never started.

    `expected` are the ids of the suites that its source starts, as far as they can be read from it.
    """

    name: str
    command: tuple[str, ...] = ()
    exit_code: int | None = None
    timed_out: bool = False
    duration_s: float = 0.0
    error: ErrorInfo | None = None
    expected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BaseReference:
    """The base that a run was compared with.

    Args:
        id: of the base run; empty where it could not be read. name: such as `main@a1b2c3d`.
        folder: where it is on disk, absolute or relative to the project; empty where it was downloaded.
    """

    id: str
    name: str = ""
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a run measured, beside suites and evaluators, as digests.

    Args:
        code: of the commit with everything that differed from it; None where that is unknown, as outside of git.
        settings: of the settings that change what suites return, such as the model.
    """

    code: str | None = None
    settings: str = ""


@dataclass(frozen=True, slots=True)
class ReusedRun:
    """An earlier run, some of whose results are part of another. Times are seconds since the epoch."""

    id: str
    started: float
    finished: float
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Run:
    """Everything that one run of all suites left behind.

    `commit` and `branch` are None outside git; `filters` are the globs that suites had to match to be run; `skipped`
    are the ids of suites that were left out for want of something that they need, such as a model's key, `left_out` of
    those that matched no filter, as far as anybody saw them; `narrowed`: files, a command or a set of tests were named
    for this one run, so that other suites of the project are not in it; `file_filters` are those of the filters that a
    file of the project sets: they excuse no suite that is missing; `settings` is what the project's file set, None
    where nobody kept it;
    `confirmations` tell of newly failing cases that were run again; `extras` are more trials of some cases, chosen by
    what the first have shown, which serve comparisons alone; `history` is what it knows of the runs before it;
    `reused_from` is the run that its reused results come from.
    """

    id: str
    started: float
    finished: float
    version: str
    schema_version: int = RECORD_VERSION
    message: str | None = None
    commit: str | None = None
    branch: str | None = None
    dirty: bool = False
    attempt: int = 1
    complete: bool = False
    suites: tuple[SuiteResult, ...] = ()
    scripts: tuple[Script, ...] = ()
    notices: tuple[str, ...] = ()
    policy: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] | None = None
    filters: tuple[str, ...] = ()
    file_filters: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    narrowed: bool = False
    confirmations: tuple[Confirmation, ...] = ()
    extras: tuple[Run, ...] = ()
    history: History = field(default_factory=History)
    compared_with: BaseReference | None = None
    conditions: Conditions | None = None
    reused_from: ReusedRun | None = None
    read: Callable[[], Iterable[CaseResult]] | None = None

    @property
    def name(self) -> str:
        """`main@a1b2c3d` where branch and commit are known, else the commit or the id."""
        if self.commit is None:
            return self.id
        return f"{self.branch}@{self.commit[:7]}" if self.branch else self.commit[:7]

    @property
    def cases(self) -> Iterator[CaseResult]:
        """The trials of every suite, in the order in which they finished, read from disk one by one."""
        return iter(self.read() if self.read is not None else ())


ReviseCase = Callable[[CaseResult], CaseResult]
_ReadCases = Callable[[], Iterable[CaseResult]]


def revise_run(run: Run, revise: ReviseCase) -> Run:
    """The run whose every trial is what `revise` makes of it; its cases are read once for that, and stay on disk."""
    columns = [Columns() for _ in run.suites]
    for case in run.cases:
        columns[case.suite].add(revise(case))
    suites = (_revise_suite(suite, found, revise) for suite, found in zip(run.suites, columns, strict=True))
    return replace(run, suites=tuple(suites), read=_revise_reader(run.read, revise))


def _revise_suite(suite: SuiteResult, columns: Columns, revise: ReviseCase) -> SuiteResult:
    return replace(suite, columns=columns, read=_revise_reader(suite.read, revise))


def _revise_reader(read: _ReadCases | None, revise: ReviseCase) -> _ReadCases | None:
    if read is None:
        return None

    def cases() -> Iterator[CaseResult]:
        return map(revise, read())

    return cases
