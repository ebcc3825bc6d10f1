"""Events folded into results: trials as they finish, suites in columns, at the end a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from scoregate.core.case import CaseError, CaseKey, CaseResult
from scoregate.core.columns import Columns
from scoregate.core.evaluation import Evaluation, Naming
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
from scoregate.core.naming import in_order
from scoregate.core.record import SuiteResult
from scoregate.core.suite_labels import label_of, labels

_OfCase: TypeAlias = CaseStarted | CaseOutput | Scored | Labelled | Errored | ReviewRequested | CaseFinished
_UNFINISHED = ErrorInfo("Unfinished", "the suite ended before this case did")
_TWICE = ErrorInfo("EvaluatedTwice", "its evaluator reported a result twice for one trial; the first counts")


@dataclass(slots=True)
class SuiteFold:
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
        return label_of(self.id, self.started.params if self.started else None)

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
        return with_undeclared({info.id: info for info in declared}, self.columns)

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
        if _is_second(case, event):
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
        if not _is_second(case, event):
            case.labels[event.evaluator] = Naming(event.label, event.metadata, event.usage)

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
        case.unscored, case.evaluations = event.unscored, in_order(case.evaluations)
        self.closed.add(case.key)
        self.columns.add(case)
        return case

    def _suite_finished(self, event: SuiteFinished) -> None:
        self.finished = event


def _is_second(case: CaseResult, event: Scored | Labelled) -> bool:
    """Whether the evaluator has reported a result of the trial before; if so, the trial gets an error."""
    if event.evaluator not in case.evaluations and event.evaluator not in case.labels:
        return False
    case.errors.append(CaseError(_TWICE, event.evaluator, event.usage))
    return True


_APPLY: dict[type[Any], Callable[[SuiteFold, Any], CaseResult | None]] = {
    SuiteStarted: SuiteFold._suite_started,
    CaseStarted: SuiteFold._case_started,
    CaseOutput: SuiteFold._case_output,
    Scored: SuiteFold._scored,
    Labelled: SuiteFold._labelled,
    Errored: SuiteFold._errored,
    ReviewRequested: SuiteFold._review_requested,
    CaseFinished: SuiteFold._case_finished,
    SuiteFinished: SuiteFold._suite_finished,
}


@dataclass(slots=True)
class RunFold:
    """All suites in the making, told apart by the log that speaks and the suite that it speaks of."""

    suites: dict[tuple[str, str], SuiteFold] = field(default_factory=dict)

    def apply(self, log: str, script: str | None, event: Event) -> CaseResult | None:
        """Take in an event that came from `log`, written by `script`."""
        key = (log, event.suite)
        if (fold := self.suites.get(key)) is None:
            fold = self.suites[key] = SuiteFold(len(self.suites), event.suite, script)
        return fold.apply(event)

    def close(self) -> Iterator[CaseResult]:
        """The trials of all suites that never finished."""
        for fold in self.suites.values():
            yield from fold.close()

    def results(self) -> tuple[SuiteResult, ...]:
        """The suites, labelled so that no two are called the same."""
        unlabelled = [fold.result("") for fold in self.suites.values()]
        return tuple(replace(suite, label=label) for suite, label in zip(unlabelled, labels(unlabelled), strict=True))


def with_undeclared(known: Mapping[str, EvaluatorInfo], columns: Columns) -> dict[str, EvaluatorInfo]:
    """The evaluators that a suite declared, and those that scored or labelled without."""
    heard = (*columns.scores, *columns.labels)
    return in_order({**known, **{name: EvaluatorInfo(name) for name in heard if name not in known}})
