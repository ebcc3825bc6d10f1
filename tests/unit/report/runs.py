"""Runs for the tests of reports, reduced from events as in the host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.runs import change_run

from scoregate.features.slices.cases import collect_slices
from scoregate.features.slices.declare import MAX_SLICE_DROP
from scoregate.features.slices.rows import add_slices
from scoregate.features.steps import STEPS
from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.gate import Verdict, evaluate_gates
from scoregate.kernel.judge.judgement import Judged, list_sections
from scoregate.kernel.report.build_view import build_view
from scoregate.kernel.report.context import ReportContext
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.evaluation import Threshold, Usage
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo, Origin, Setup
from scoregate.kernel.types.events import (
    CaseFinished,
    CaseOutput,
    CaseStarted,
    Errored,
    Event,
    Labelled,
    Scored,
    SuiteFinished,
    SuiteStarted,
)
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.reducer import RunReducer
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, Script

NOW = 1_760_007_200.0
CONTEXT = ReportContext(
    key="evals",
    repository="https://github.com/o/r",
    commit="e4f5a6b" + "0" * 33,
    run="1234567.1",
    run_url="https://github.com/o/r/actions/runs/1234567",
    base_branch="main",
    generated_at=NOW,
    pull_request=True,
)


@dataclass(frozen=True)
class Score:
    """One evaluation, or an error instead."""

    evaluator: str
    score: float = 1.0
    threshold: Threshold | None = field(default_factory=lambda: Threshold(gte=0.9))
    metadata: Any = None
    error: ErrorInfo | None = None
    assertions: Any = None


@dataclass(frozen=True)
class Trial:
    """One trial of a case."""

    hash: str
    scores: Sequence[Score] = ()
    name: str = ""
    output: Any = "a reply"
    duration_ms: float = 800.0
    repeat: int = 0
    error: ErrorInfo | None = None
    usage: Usage | None = None
    unscored: tuple[str, ...] = ()
    digest: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    origin: Origin | None = None
    input: Any = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExampleSuite:
    """A suite that emits events."""

    id: str
    trials: Sequence[Trial]
    evaluators: tuple[EvaluatorInfo, ...] = ()
    origin: Origin | None = field(default_factory=lambda: Origin("evals/support_bot.py", 41))
    finished: bool = True
    errors: tuple[ErrorInfo, ...] = ()
    setup: Setup | None = None

    def events(self) -> Iterable[Event]:
        """All events of the suite."""
        yield SuiteStarted(
            suite=self.id, origin=self.origin, evaluators=self.evaluators, cases=len(self.trials), setup=self.setup
        )
        for trial in self.trials:
            yield from self._trial(trial)
        for error in self.errors:
            yield Errored(suite=self.id, stage="suite", error=error)
        if self.finished:
            yield SuiteFinished(suite=self.id, duration_s=12.5)

    def _trial(self, trial: Trial) -> Iterable[Event]:
        where: dict[str, Any] = {"suite": self.id, "case": trial.hash, "repeat": trial.repeat}
        yield CaseStarted(
            **where, name=trial.name, digest=trial.digest, origin=trial.origin, input=trial.input, tags=trial.tags
        )
        if trial.error:
            yield Errored(**where, stage="task", error=trial.error)
        else:
            yield CaseOutput(**where, output=trial.output, duration_ms=trial.duration_ms, usage=trial.usage)
        for score in trial.scores:
            if score.error:
                yield Errored(**where, stage="evaluator", error=score.error, evaluator=score.evaluator)
                continue
            yield Scored(
                **where,
                evaluator=score.evaluator,
                score=score.score,
                threshold=score.threshold,
                metadata=score.metadata,
                assertions=score.assertions,
            )
        for evaluator, label in trial.labels.items():
            yield Labelled(**where, evaluator=evaluator, label=label)
        yield CaseFinished(**where, unscored=trial.unscored)


def make_run(*suites: ExampleSuite, commit: str = "e4f5a6b", branch: str | None = "fix", **fields: Any) -> Run:
    """The run of these suites; its cases can be read as from disk."""
    fold, cases = RunReducer(), list[CaseResult]()
    for suite in suites:
        for event in suite.events():
            if case := fold.apply(suite.id, f"evals/{suite.id}.py", event):
                cases.append(case)
    cases.extend(fold.close())
    scripts = tuple(Script(f"evals/{suite.id}.py", exit_code=0) for suite in suites)
    run = Run(
        f"run-{commit}",
        NOW - 90,
        RunEnd(NOW - 18, complete=True),
        RunCode("1.0.0", commit=commit + "0" * (40 - len(commit)), branch=branch),
        scripts=scripts,
        suites=tuple(
            replace(suite, trials=replace(suite.trials, read=_of(cases, at))) for at, suite in enumerate(fold.results())
        ),
        read=lambda: iter(cases),
    )
    return change_run(run, **fields)


def _of(cases: list[CaseResult], suite: int) -> Callable[[], Iterator[CaseResult]]:
    return lambda: (case for case in cases if case.suite == suite)


def make_base(*suites: ExampleSuite, **fields: Any) -> Run:
    """A run of the base branch, two hours old."""
    when = {"started": NOW - 7300, "finished": NOW - 7230}
    return make_run(*suites, commit="a1b2c3d", branch="main", **(when | fields))


def make_view(comparison: Comparison, verdict: Verdict, context: ReportContext = CONTEXT) -> ReportView:
    """The view of a comparison, with what all features say."""
    return build_view(comparison, verdict, context, list_sections(STEPS, Judged(comparison, verdict)))


def view_of(
    run: Run,
    base: Run | None = None,
    *,
    limits: Limits | None = None,
    note: str = "exact",
    context: ReportContext = CONTEXT,
    policy_changes: Sequence[str] = (),
    slices: Sequence[str] = (),
) -> ReportView:
    """The view of a run and its base, with `limits` for every suite."""
    policy = Policy(suites={"*": limits}) if limits else Policy()
    comparison = compare(run, base, note if base else "no run of main is stored")
    if slices:
        comparison = add_slices(comparison, lambda each: collect_slices(each, slices), lambda _: _list_limited(limits))
    checks = [check for step in STEPS for check in step.checks]
    verdict = evaluate_gates(comparison, policy, policy_changes=policy_changes, checks=checks)
    return make_view(comparison, verdict, context)


def _list_limited(limits: Limits | None) -> Iterable[str]:
    return () if limits is None else MAX_SLICE_DROP.of(limits)
