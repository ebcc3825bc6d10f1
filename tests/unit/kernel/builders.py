"""Runs for the tests of the core, reduced from the events of example suites."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.estimates import Estimate, PairSummary
from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo, Fingerprint
from scoregate.kernel.types.events import (
    CaseFinished,
    CaseOutput,
    CaseStarted,
    Errored,
    Event,
    Scored,
    SuiteFinished,
    SuiteStarted,
)
from scoregate.kernel.types.exemptions import AcceptedRegression
from scoregate.kernel.types.runs.dependencies import CarriedFrom
from scoregate.kernel.types.runs.evidence import list_sources
from scoregate.kernel.types.runs.reducer import RunReducer
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, Script, SuiteResult
from scoregate.kernel.types.runs.run_scope import RunScope

ERROR = ErrorInfo("ValueError", "broken")
HALF = Threshold(gte=0.5)
Scores = Mapping[str, "float | ErrorInfo | None"]


@dataclass(frozen=True)
class ExampleSuite:
    """A suite that emits events: for each case the scores by evaluator, an error, or None for no evaluation.

    A case given as an error is one whose function under test raised. `digests` are of cases' definitions.
    """

    cases: Mapping[str, Scores | ErrorInfo] = field(default_factory=dict)
    id: str = "demo"
    evaluators: Sequence[EvaluatorInfo] = (EvaluatorInfo("e"),)
    script: str = "evals/demo.py"
    threshold: Threshold | None = HALF
    digests: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, Any] | None = None
    errors: Sequence[ErrorInfo] = ()
    complete: bool = True
    assertion_failed: bool = False
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def events(self) -> Iterator[Event]:
        """All events of the suite."""
        yield SuiteStarted(suite=self.id, evaluators=tuple(self.evaluators), cases=len(self.cases), params=self.params)
        for error in self.errors:
            yield Errored(suite=self.id, stage="suite", error=error)
        for case, scores in self.cases.items():
            yield from self._case(case, scores)
        if self.complete:
            yield SuiteFinished(suite=self.id, assertion_failed=self.assertion_failed)

    def _case(self, case: str, scores: Scores | ErrorInfo) -> Iterator[Event]:
        yield CaseStarted(suite=self.id, case=case, digest=self.digests.get(case, ""), tags=self.tags.get(case, ()))
        if isinstance(scores, ErrorInfo):
            yield Errored(suite=self.id, case=case, stage="task", error=scores)
            yield CaseFinished(suite=self.id, case=case)
            return
        yield CaseOutput(suite=self.id, case=case, output="an answer")
        for name, score in scores.items():
            if isinstance(score, ErrorInfo):
                yield Errored(suite=self.id, case=case, stage="evaluator", evaluator=name, error=score)
            elif score is not None:
                yield Scored(suite=self.id, case=case, evaluator=name, score=score, threshold=self.threshold)
        unscored = tuple(name for name, score in scores.items() if score is None)
        yield CaseFinished(suite=self.id, case=case, unscored=unscored)


def scored(*scores: float | ErrorInfo | None, evaluator: str = "e") -> dict[str, Scores | ErrorInfo]:
    """Cases c0, c1, … with these scores."""
    return {f"c{index}": {evaluator: score} for index, score in enumerate(scores)}


def info(name: str = "e", *, higher_is_better: bool = True, **fingerprint: Any) -> EvaluatorInfo:
    return EvaluatorInfo(name, Fingerprint(**fingerprint) if fingerprint else None, higher_is_better)


def run_of(*suites: ExampleSuite, scripts: Sequence[Script] | None = None, filters: tuple[str, ...] = ()) -> Run:
    """The run of these suites."""
    fold = RunReducer()
    for index, suite in enumerate(suites):
        for event in suite.events():
            fold.apply(f"log-{index}", suite.script, event)
    list(fold.close())
    ended = [Script(name, exit_code=0) for name in dict.fromkeys(suite.script for suite in suites)]
    found = tuple(ended if scripts is None else scripts)
    return Run(
        "run",
        0.0,
        RunEnd(1.0, complete=True),
        RunCode("0"),
        RunScope(filters=filters),
        suites=fold.results(),
        scripts=found,
    )


def compared(new: ExampleSuite, old: ExampleSuite | None) -> Comparison:
    return compare(run_of(new), None if old is None else run_of(old))


def compared_row(p: float, accepted: AcceptedRegression | None = None) -> Row:
    """A row that has fallen, with this two-sided p."""
    estimate = Estimate(-0.1, p, p / 2, 1 - p / 2, -1.0, 1.0, None, smallest_p=0.0001, smallest_margin=1.0)
    counts = PairSummary(better=1, worse=9)
    return Row("s", "e", RowLabel.NOISE, estimate=estimate, pairs=counts, accepted=accepted)


def row_of(new: ExampleSuite, old: ExampleSuite | None, evaluator: str = "e") -> Row:
    """The one row of an evaluator."""
    (row,) = [row for row in compared(new, old).rows if row.evaluator == evaluator]
    return row


def mark_source(suite: SuiteResult, reused: Collection[int] = (), **run: CarriedFrom) -> SuiteResult:
    """The suite with the results of a run.

    Args:
        suite: the suite.
        reused: the rows that it reused.
        run: the run, as `carried` or `kept`; an earlier attempt without it.
    """
    columns = replace(suite.columns, sources=bytearray(row in reused for row in range(len(suite.columns))))
    return replace(suite, trials=replace(suite.trials, columns=columns, sources=list_sources(**run)))
