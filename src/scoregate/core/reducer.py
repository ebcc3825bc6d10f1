"""Events reduced to the results of suites."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import fsum, isfinite, isnan
from typing import Any, TypeAlias

from scoregate.core.cases import CaseError, CaseKey, CaseResult, Columns, Status
from scoregate.core.evaluation import Evaluation, Label, Usage
from scoregate.core.events import (
    CaseFinished,
    CaseOutput,
    CaseStarted,
    Errored,
    ErrorInfo,
    EvaluatorInfo,
    Event,
    Labelled,
    ReviewRequested,
    Scored,
    SuiteFinished,
    SuiteStarted,
)
from scoregate.core.run import SuiteResult
from scoregate.core.suite_labels import label_suites, suite_label
from scoregate.core.text import sort_by_name

_OfCase: TypeAlias = CaseStarted | CaseOutput | Scored | Labelled | Errored | ReviewRequested | CaseFinished
_UNFINISHED = ErrorInfo("Unfinished", "the suite ended before this case did")
_TWICE = ErrorInfo("EvaluatedTwice", "its evaluator reported a result twice for one trial; the first counts")


@dataclass(slots=True)
class SuiteReducer:
    """One suite in the making; `apply` returns a trial when it is finished.

    `repeated` is the first trial of which an event came after its end; `unfinished` counts trials that have no end.
    """

    index: int
    id: str
    script: str | None = None
    started: SuiteStarted | None = None
    finished: SuiteFinished | None = None
    columns: Columns = field(default_factory=Columns)
    errors: list[ErrorInfo] = field(default_factory=list)
    reviews: list[str] = field(default_factory=list)
    open: dict[CaseKey, CaseResult] = field(default_factory=dict)
    closed: set[CaseKey] = field(default_factory=set)
    booleans: set[str] = field(default_factory=set)
    repeated: CaseKey | None = None
    unfinished: int = 0

    @property
    def label(self) -> str:
        """Its id, with its parameters once they are known."""
        return suite_label(self.id, self.started.params if self.started else None)

    def apply(self, event: Event) -> CaseResult | None:
        """Take in one event. A trial is returned once, when its last event has come."""
        return _APPLY[type(event)](self, event)

    def close(self) -> Iterator[CaseResult]:
        """The trials that never finished, each with an error that says so."""
        for key in list(self.open):
            case = self.open.pop(key)
            case.errors.append(CaseError(_UNFINISHED))
            self.unfinished += 1
            self.columns.add(case)
            yield case

    def result(self, label: str, read: Callable[[], Iterable[CaseResult]] | None = None) -> SuiteResult:
        """The suite as far as it got."""
        started, finished = self.started, self.finished
        return SuiteResult(
            id=self.id,
            label=label,
            origin=started.origin if started else None,
            script=self.script,
            evaluators=self._evaluators(),
            params=started.params if started else None,
            planned=started.cases if started else None,
            errors=tuple(self.errors),
            reviews=tuple(self.reviews),
            unfinished=self.unfinished,
            complete=finished is not None and not self._missing(),
            assertion_failed=finished is not None and finished.assertion_failed,
            duration_s=finished.duration_s if finished else None,
            usage=finished.usage if finished else None,
            sdk=started.sdk if started else None,
            columns=self.columns,
            read=read,
        )

    def _missing(self) -> bool:
        """Whether fewer trials finished than were planned or started."""
        planned = self.started.cases if self.started else None
        return self.unfinished > 0 or len(self.columns) < (planned or 0)

    def _evaluators(self) -> dict[str, EvaluatorInfo]:
        declared = self.started.evaluators if self.started else ()
        return add_undeclared({info.id: info for info in declared}, self.columns)

    def _case(self, event: _OfCase) -> CaseResult:
        assert event.case is not None
        key = CaseKey(event.case, event.repeat)
        if (case := self.open.get(key)) is None:
            case = CaseResult(self.index, event.case, event.repeat, event.case)
            if key in self.closed:
                self._report_repeated(key)
            else:
                self.open[key] = case
        return case

    def _report_repeated(self, key: CaseKey) -> None:
        """Once for all trials: which result of two is the valid one isn't known, and none is overwritten."""
        if self.repeated is None:
            self.repeated = key
            message = f"case {key.hash!r:.100}, repeat {key.repeat}, was reported again after it had finished"
            self.errors.append(ErrorInfo("RepeatedCase", message, advice="Give each trial its own hash and repeat."))

    def _suite_started(self, event: SuiteStarted) -> None:
        self.started = event
        self.booleans = {info.id for info in event.evaluators if info.boolean}

    def _case_started(self, event: CaseStarted) -> None:
        case = self._case(event)
        case.name, case.input, case.digest = event.name or event.case, event.input, event.digest
        case.tags, case.cluster, case.origin = event.tags, event.cluster, event.origin
        case.reused = event.reused

    def _case_output(self, event: CaseOutput) -> None:
        case = self._case(event)
        case.output, case.duration_ms, case.attempts = event.output, event.duration_ms, event.attempts
        case.usage, case.truncated, case.trace = event.usage, event.truncated, event.trace

    def _scored(self, event: Scored) -> None:
        case = self._case(event)
        if _is_repeated_result(case, event):
            return
        score = float(event.score) if event.evaluator in self.booleans else event.score
        try:
            case.evaluations[event.evaluator] = Evaluation(
                score, event.threshold, event.metadata, event.assertions, event.usage
            )
        except (TypeError, ValueError) as error:  # an SDK in another language said it
            case.errors.append(CaseError(ErrorInfo(type(error).__name__, str(error)), event.evaluator))

    def _labelled(self, event: Labelled) -> None:
        case = self._case(event)
        if not _is_repeated_result(case, event):
            case.labels[event.evaluator] = Label(event.label, event.metadata, event.usage)

    def _errored(self, event: Errored) -> None:
        if event.case is None or event.stage == "suite":
            self.errors.append(event.error)
        else:
            case = self._case(event)
            case.errors.append(CaseError(event.error, event.evaluator, event.usage))
            case.trace = event.trace if case.trace is None else case.trace

    def _review_requested(self, event: ReviewRequested) -> None:
        if event.case is None:
            self.reviews.append(event.name)
        else:
            case = self._case(event)
            name = event.evaluator or event.name
            case.pending = (*case.pending, name)
            if event.contest is not None:
                case.contests[name] = event.contest

    def _case_finished(self, event: CaseFinished) -> CaseResult | None:
        case = self._case(event)
        if self.open.pop(case.key, None) is None:
            return None
        case.unscored, case.evaluations = event.unscored, sort_by_name(case.evaluations)
        self.closed.add(case.key)
        self.columns.add(case)
        return case

    def _suite_finished(self, event: SuiteFinished) -> None:
        self.finished = event


def _is_repeated_result(case: CaseResult, event: Scored | Labelled) -> bool:
    """Whether the evaluator has reported a result of the trial before; if so, the trial gets an error."""
    if event.evaluator not in case.evaluations and event.evaluator not in case.labels:
        return False
    case.errors.append(CaseError(_TWICE, event.evaluator, event.usage))
    return True


_APPLY: dict[type[Any], Callable[[SuiteReducer, Any], CaseResult | None]] = {
    SuiteStarted: SuiteReducer._suite_started,
    CaseStarted: SuiteReducer._case_started,
    CaseOutput: SuiteReducer._case_output,
    Scored: SuiteReducer._scored,
    Labelled: SuiteReducer._labelled,
    Errored: SuiteReducer._errored,
    ReviewRequested: SuiteReducer._review_requested,
    CaseFinished: SuiteReducer._case_finished,
    SuiteFinished: SuiteReducer._suite_finished,
}


@dataclass(slots=True)
class RunReducer:
    """All suites in the making, told apart by the log that speaks and the suite that it speaks of."""

    suites: dict[tuple[str, str], SuiteReducer] = field(default_factory=dict)

    def apply(self, log: str, script: str | None, event: Event) -> CaseResult | None:
        """Take in an event that came from `log`, written by `script`."""
        key = (log, event.suite)
        if (fold := self.suites.get(key)) is None:
            fold = self.suites[key] = SuiteReducer(len(self.suites), event.suite, script)
        return fold.apply(event)

    def close(self) -> Iterator[CaseResult]:
        """The trials of all suites that never finished."""
        for fold in self.suites.values():
            yield from fold.close()

    def results(self) -> tuple[SuiteResult, ...]:
        """The suites, labelled so that no two are called the same."""
        unlabelled = [fold.result("") for fold in self.suites.values()]
        return tuple(
            replace(suite, label=label) for suite, label in zip(unlabelled, label_suites(unlabelled), strict=True)
        )


def add_undeclared(known: Mapping[str, EvaluatorInfo], columns: Columns) -> dict[str, EvaluatorInfo]:
    """The evaluators that a suite declared, and those that scored or labelled without."""
    heard = (*columns.scores, *columns.labels)
    return sort_by_name({**known, **{name: EvaluatorInfo(name) for name in heard if name not in known}})


@dataclass(frozen=True, slots=True)
class Tally:
    """What is known of a suite while it runs.

    `label` tells a suite from others of its log: its id, with its parameters. `planned` is None where nobody knows the
    number of cases beforehand. `means` are of the scores given so far, by evaluator, in [0, 1]; `cost` is in dollars.
    `duration_s` is in seconds, of a suite that has finished and said how long it took.
    """

    log: str
    label: str
    planned: int | None = None
    done: int = 0
    states: Mapping[Status, int] = field(default_factory=dict)
    means: Mapping[str, float] = field(default_factory=dict)
    cost: float = 0.0
    finished: bool = False
    duration_s: float | None = None


def tally_suite(fold: SuiteReducer, log: str) -> Tally:
    """How far a suite is that tells of every case as it ends."""
    columns, started = fold.columns, fold.started
    scores = {name: [score for score in column if not isnan(score)] for name, column in columns.scores.items()}
    return Tally(
        log,
        fold.label,
        planned=started.cases if started else None,
        done=len(columns),
        states={status: count for status in Status if (count := columns.count(status))},
        means={name: fsum(known) / len(known) for name, known in scores.items() if known},
        cost=fsum(cost for cost in (*columns.costs, _outstanding_trials(fold)) if cost > 0),
        finished=fold.finished is not None,
        duration_s=fold.finished.duration_s if fold.finished else None,
    )


def _outstanding_trials(fold: SuiteReducer) -> float:
    usage = None if fold.finished is None else fold.finished.usage
    return 0.0 if usage is None else usage.cost or 0.0


# Beyond what a float can count one by one.
MOST_COUNTED = 2**53
_TOKENS = ("input_tokens", "output_tokens", "cached_tokens")
_DURATIONS = ("duration_ms", "duration_s")


def drop_invalid_numbers(event: Event) -> tuple[Event, tuple[str, ...]]:
    """An event as it can be kept.

    Returns:
        The event without the usage and the duration that cannot be, and a sentence for each; the event itself where
        nothing is wrong.
    """
    wrong = dict(_invalid_numbers(event))
    if not wrong:
        return event, ()
    case = getattr(event, "case", None)
    where = f"suite {event.suite!r:.100}" + (f", case {case!r:.100}" if case else "")
    absent: dict[str, Any] = dict.fromkeys(wrong)
    return replace(event, **absent), tuple(f"{where}: {what}" for what in wrong.values())


def describe_invalid_usage(usage: Usage) -> str:
    """What is wrong with the amounts, in words; empty where nothing is."""
    for name in _TOKENS:
        if not 0 <= (count := getattr(usage, name)) < MOST_COUNTED:
            return f"{name} = {_format_count(count)} is no possible count"
    if usage.cost is not None and not (isfinite(usage.cost) and usage.cost >= 0):
        return f"cost = {usage.cost:g} is no possible cost"
    return ""


def _invalid_numbers(event: Event) -> Iterator[tuple[str, str]]:
    usage: Usage | None = getattr(event, "usage", None)
    if usage is not None and (why := describe_invalid_usage(usage)):
        yield "usage", f"its usage is left out: {why}"
    for name in _DURATIONS:
        duration = getattr(event, name, None)
        if duration is not None and not (isfinite(duration) and duration >= 0):
            yield name, f"its duration is left out: {name} = {duration:g}"


def _format_count(count: Any) -> str:
    return str(count) if abs(count) < MOST_COUNTED else f"a number of {len(bin(abs(count))) - 2:,} bits"
