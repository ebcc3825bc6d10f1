"""Reducers: they turn events into the results of suites."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Self, TypeAlias, assert_never

from scoregate.kernel.types.evaluation import Evaluation, Label, Usage, make_plain_evaluation
from scoregate.kernel.types.event_values import MOST_TOOLS, ErrorInfo, EvaluatorInfo
from scoregate.kernel.types.events import (
    CaseFinished,
    CaseOutput,
    CaseStarted,
    Errored,
    Event,
    Labelled,
    ReviewRequested,
    Scored,
    SuiteFinished,
    SuiteStarted,
    ToolCalled,
)
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseError, CaseKey, CaseResult
from scoregate.kernel.types.runs.clusters import find_cluster
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.policy import Policy
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.kernel.types.runs.score_rules import LOST_VERDICT, ScoreRules
from scoregate.kernel.types.runs.suite_labels import label_suites, suite_label
from scoregate.kernel.types.runs.text_column import KeySet, TextColumn
from scoregate.kernel.types.text import sort_by_name
from scoregate.kernel.types.trajectory_steps import ToolCall, add_tool_call
from scoregate.kernel.types.usage import sum_usage

_OfCase: TypeAlias = (
    CaseStarted | CaseOutput | ToolCalled | Scored | Labelled | Errored | ReviewRequested | CaseFinished
)
# The hash alone for the first trial of a case: a million tuples would take 70 MB.
_TrialKey: TypeAlias = str | tuple[str, int]
_UNFINISHED = ErrorInfo("Unfinished", "the suite ended before this case did")
_TWICE = ErrorInfo("EvaluatedTwice", "its scorer reported a result twice for one trial; the first counts")


@dataclass(slots=True)
class SuiteReducer:
    """The state of one suite while its events arrive.

    Attributes:
        index: the index of the suite in the run.
        id: the id of the suite.
        script: the script that was launched for it.
        started: the first event of the suite.
        finished: the last event of the suite.
        columns: the finished trials.
        errors: the errors of the suite itself.
        reviews: the requested reviews of the suite's outputs.
        open: the trials that are not finished.
        closed: the trials that are finished.
        booleans: the evaluators whose scores are bools.
        repeated: the first trial with an event after its end.
        unfinished: the number of trials that never finished.
        rules: how scores are read.
        policy: says how clusters are found.
        counted: the usage that the gateway counted for the suite, besides that of its events.
    """

    index: int
    id: str
    script: str | None = None
    started: SuiteStarted | None = None
    finished: SuiteFinished | None = None
    columns: Columns = field(default_factory=lambda: Columns(hashes=TextColumn()))
    errors: list[ErrorInfo] = field(default_factory=list)
    reviews: list[str] = field(default_factory=list)
    open: dict[_TrialKey, CaseResult] = field(default_factory=dict)
    closed: KeySet = field(default_factory=KeySet)
    booleans: set[str] = field(default_factory=set)
    repeated: CaseKey | None = None
    unfinished: int = 0
    rules: ScoreRules = field(default_factory=ScoreRules)
    policy: Policy = field(default_factory=Policy)
    counted: Usage | None = None
    _declared: dict[str, EvaluatorInfo] = field(default_factory=dict)
    _cluster_setting: str | None = None

    @property
    def label(self) -> str:
        """The id, with the parameters once they are known."""
        return suite_label(self.id, self.started.params if self.started else None)

    def apply(self, event: Event) -> CaseResult | None:
        """Process one event; returns the trial that it finishes, if any."""
        remaining = self.rules.without_ignored(event, self.booleans)
        return None if remaining is None else self._apply(remaining)

    def _apply(self, event: Event) -> CaseResult | None:
        match event:
            case Scored() | Labelled():
                self._add_result(event)
            case CaseStarted():
                case = self._case(event)
                case.name, case.input, case.digest = event.name or event.case, event.input, event.digest
                case.tags, case.cluster, case.origin = event.tags, self._find_cluster(event), event.origin
                case.reused, case.dataset_item_id = event.reused, event.dataset_item_id
                case.review_inputs = event.review_inputs
            case CaseOutput() | ToolCalled():
                self._add_output(event)
            case CaseFinished():
                case = self._case(event)
                key = _trial_key(case.hash, case.repeat)
                if self.open.pop(key, None) is not None:
                    case.unscored, case.evaluations = event.unscored, _sort_evaluations(case.evaluations)
                    self.closed.add(key)
                    self.columns.add(case)
                    return case
            case Errored():
                self._add_error(event)
            case ReviewRequested():
                self._add_review(event)
            case SuiteStarted():
                self.started = event
                self._cluster_setting = None
                self.booleans = {info.id for info in event.evaluators if info.boolean}
                self._declared = {info.id: info for info in event.evaluators}
            case SuiteFinished():
                self.finished = event
            case _:
                assert_never(event)
        return None

    def has_trial(self, case: str, repeat: int) -> bool:
        """Whether a trial was reported."""
        key = _trial_key(case, repeat)
        return key in self.open or key in self.closed

    def close(self) -> Iterator[CaseResult]:
        """Finish the open trials, each with an error."""
        self.closed.clear()  # no event follows
        for key in list(self.open):
            case = self.open.pop(key)
            case.errors.append(CaseError(_UNFINISHED))
            self.unfinished += 1
            self.columns.add(case)
            yield case
        if isinstance(hashes := self.columns.hashes, TextColumn):
            self.columns.hashes = hashes.unpack()

    def result(self, label: str, read: Callable[[], Iterable[CaseResult]] | None = None) -> SuiteResult:
        """The result of the suite with the trials finished so far.

        Args:
            label: the label of the suite, unique in the run.
            read: reads the trials from disk.
        """
        started, finished = self.started, self.finished
        planned = started.cases if started else None
        is_missing_trials = self.unfinished > 0 or len(self.columns) < (planned or 0)
        return SuiteResult(
            id=self.id,
            label=label,
            origin=started.origin if started else None,
            script=self.script,
            evaluators=self._evaluators(),
            params=started.params if started else None,
            planned=planned,
            errors=tuple(self.errors),
            reviews=tuple(self.reviews),
            unfinished=self.unfinished,
            complete=finished is not None and not is_missing_trials,
            assertion_failed=finished is not None and finished.assertion_failed,
            duration_s=finished.duration_s if finished else None,
            usage=self.sum_usage(),
            sdk=started.sdk if started else None,
            setup=started.setup if started else None,
            part=started.part if started else None,
            tools=finished.tools[:MOST_TOOLS] if finished else (),
            trials=Trials(self.columns, read=read),
        )

    def sum_usage(self) -> Usage | None:
        """The usage of model calls that belong to no case."""
        known = (self.finished.usage if self.finished else None, self.counted)
        return sum_usage(usage for usage in known if usage is not None)

    def _evaluators(self) -> dict[str, EvaluatorInfo]:
        known = add_undeclared(self._declared, self.columns)
        if self.started is not None and (self.started.sdk or "").startswith(_OWN_SDK):
            known = _declare_parts(known, self.columns)
        return {
            name: info if name in self.booleans else self.rules.describe_evaluator(info) for name, info in known.items()
        }

    @property
    def _is_imported(self) -> bool:
        """Whether it is from a file of another framework, whose verdicts can't be declared before they are read."""
        return self.started is not None and self.started.setup is not None

    def _find_cluster(self, case: CaseStarted) -> str | None:
        """The cluster by the setting; without one, that of the suite."""
        if self._cluster_setting is None:
            suite = SuiteResult(self.id, self.label, setup=self.started.setup if self.started else None)
            self._cluster_setting = self.policy.limits_of(suite).cluster or ""
        if not self._cluster_setting:
            return case.cluster
        return find_cluster(self._cluster_setting, case.input, case.name, case.case) or case.cluster

    def _case(self, event: _OfCase) -> CaseResult:
        assert event.case is not None
        key = _trial_key(event.case, event.repeat)
        if (case := self.open.get(key)) is None:
            case = CaseResult(self.index, event.case, event.repeat, event.case)
            if key not in self.closed:
                self.open[key] = case
            elif self.repeated is None:  # one error for all trials; the first result stays, the valid one is unknown
                self.repeated = case.key
                message = f"case {case.hash!r:.100}, repeat {case.repeat}, was reported again after it had finished"
                advice = "Give each trial its own hash and repeat."
                self.errors.append(ErrorInfo("RepeatedCase", message, advice=advice))
        return case

    def _add_output(self, event: CaseOutput | ToolCalled) -> None:
        case = self._case(event)
        if isinstance(event, ToolCalled):
            case.trace = add_tool_call(case.trace, _make_call(event))
            return
        case.output, case.duration_ms, case.attempts = event.output, event.duration_ms, event.attempts
        case.usage, case.truncated, case.review_outputs = event.usage, event.truncated, event.review_outputs
        case.trace = case.trace if event.trace is None else event.trace

    def _add_result(self, event: Scored | Labelled) -> None:
        case, name = self._case(event), event.evaluator
        if name in case.evaluations or name in case.labels:
            case.errors.append(CaseError(_TWICE, name, event.usage))
        elif isinstance(event, Labelled):
            case.labels[name] = Label(event.label, event.metadata, event.usage)
        elif isinstance(read := self.rules.read_score(event, self._declared.get(name)), ErrorInfo):
            case.errors.append(CaseError(read, name, event.usage))
            if read.type == LOST_VERDICT and all(each.type != LOST_VERDICT for each in self.errors):
                self.errors.append(replace(read, message=f"{name:.100}, case {case.hash!r:.100}: {read.message}"))
        else:
            if isinstance(read.score, bool) and self._is_imported:
                self.booleans.add(name)
            score = float(read.score) if name in self.booleans else read.score
            try:
                case.evaluations[name] = (
                    make_plain_evaluation(score, read.threshold)
                    if type(score) is float and read.metadata is None and read.assertions is None and read.usage is None
                    else Evaluation(score, read.threshold, read.metadata, read.assertions, read.usage)
                )
            except (TypeError, ValueError) as error:  # an SDK in another language doesn't validate
                case.errors.append(CaseError(ErrorInfo(type(error).__name__, str(error)), name))

    def _add_error(self, event: Errored) -> None:
        if event.case is None or event.stage == "suite":
            self.errors.append(event.error)
        else:
            case = self._case(event)
            case.errors.append(CaseError(event.error, event.evaluator, event.usage))
            case.trace = event.trace if case.trace is None else case.trace

    def _add_review(self, event: ReviewRequested) -> None:
        if event.case is None:
            self.reviews.append(event.name)
        else:
            case = self._case(event)
            name = event.evaluator or event.name
            case.pending = (*case.pending, name)
            if event.contest is not None:
                case.contests[name] = event.contest


def _make_call(event: ToolCalled) -> ToolCall:
    duration_s = None if event.duration_ms is None else event.duration_ms / 1000
    return ToolCall(event.name, event.arguments, event.result, event.error, duration_s, event.tokens, event.agent)


def _trial_key(case: str, repeat: int) -> _TrialKey:
    return (case, repeat) if repeat else case


@lru_cache(maxsize=1024)
def _sort_names(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sort_by_name(dict.fromkeys(names)))


def _sort_evaluations(evaluations: dict[str, Evaluation]) -> dict[str, Evaluation]:
    names = tuple(evaluations)
    in_order = _sort_names(names)
    return evaluations if in_order == names else {name: evaluations[name] for name in in_order}


@dataclass(slots=True)
class RunReducer:
    """The state of all suites while their events arrive, by event log and id of the suite.

    `rules` read scores, and `policy` says how clusters are found.
    """

    suites: dict[tuple[str, str], SuiteReducer] = field(default_factory=dict)
    rules: ScoreRules = field(default_factory=ScoreRules)
    policy: Policy = field(default_factory=Policy)

    @classmethod
    def for_policy(cls, policy: Policy) -> Self:
        """The state of no suite yet.

        Args:
            policy: says how scores are read and how clusters are found.
        """
        return cls(rules=ScoreRules(policy.criteria), policy=policy)

    def apply(self, log: str, script: str | None, event: Event) -> CaseResult | None:
        """Process an event.

        Args:
            log: the event log.
            script: the script that writes the log.
            event: the event.

        Returns:
            The trial that the event finishes, if any.
        """
        return self.find_suite(log, script, event.suite).apply(event)

    def find_suite(self, log: str, script: str | None, suite_id: str) -> SuiteReducer:
        """The state of a suite; a new one if there is none yet."""
        key = (log, suite_id)
        if (suite := self.suites.get(key)) is None:
            suite = self.suites[key] = SuiteReducer(
                len(self.suites), suite_id, script, rules=self.rules, policy=self.policy
            )
        return suite

    def close(self) -> Iterator[CaseResult]:
        """Finish the open trials of all suites, each with an error."""
        for suite in self.suites.values():
            yield from suite.close()

    def results(self) -> tuple[SuiteResult, ...]:
        """The results of the suites, with unique labels."""
        unlabelled = [suite.result("") for suite in self.suites.values()]
        return tuple(
            replace(suite, label=label) for suite, label in zip(unlabelled, label_suites(unlabelled), strict=True)
        )


def add_undeclared(known: Mapping[str, EvaluatorInfo], columns: Columns) -> dict[str, EvaluatorInfo]:
    """The declared evaluators and those with scores or labels that are not declared."""
    used = (*columns.scores, *columns.labels)
    return sort_by_name({**known, **{name: EvaluatorInfo(name) for name in used if name not in known}})


_OWN_SDK = "scoregate "


def _declare_parts(known: Mapping[str, EvaluatorInfo], columns: Columns) -> dict[str, EvaluatorInfo]:
    """Describe the parts of an evaluator with several scores, which are recorded as `evaluator.part`, like itself.

    The evaluator is left out if it has only parts.
    """
    parts = {
        name: parent
        for name, info in known.items()
        for parent in known
        if info.fingerprint is None and name.startswith(f"{parent}.") and known[parent].fingerprint is not None
    }
    own = {*columns.scores, *columns.labels, *columns.deferred}
    infos = {name: replace(known[parts[name]], id=name) if name in parts else info for name, info in known.items()}
    return {name: info for name, info in infos.items() if name in own or name not in parts.values()}
