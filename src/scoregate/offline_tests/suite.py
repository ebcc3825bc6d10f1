"""Build the suite of an offline test from examples, judges and an agent."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from scoregate.datasets import Example
from scoregate.engine.environment import Selection, select_suite
from scoregate.engine.errors import EXIT_EXCEPTIONS
from scoregate.engine.fingerprint import fingerprint_function
from scoregate.engine.trial import serialize_output
from scoregate.errors import JudgmentValidationError, MissingExtra
from scoregate.grading.prompts import digest_texts
from scoregate.grading.subject import Subject
from scoregate.judges import JudgeResult, JudgeVersion, build_scorers
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.suite import TARGET, Case, Description, RunLimits, Scorer, Suite
from scoregate.kernel.types.trace import Trace
from scoregate.offline_tests.agent import AgentTask, ArgumentMapping, error_text
from scoregate.offline_tests.results import AgentFunction, PassConditionFn, to_scorer_data
from scoregate.offline_tests.rows import Attempt, cases_of, describe_example
from scoregate.offline_tests.tracer import OfflineTracer

PASS_CONDITION = "pass_condition"
_PASS_AT_ONE = Threshold(gte=1)


@dataclass(frozen=True, slots=True)
class PassCondition:
    """A pass condition and the scorers that must finish before it."""

    passes: PassConditionFn
    scorers: Sequence[Scorer]

    def scorer(self, *, max_concurrency: int) -> Scorer:
        """The scorer for the engine. Its fingerprint depends on its own code and on those of the judges."""
        own = fingerprint_function(self.passes)
        parameters = digest_texts(
            own.parameters or "", *(f"{each.info.id} {each.info.fingerprint}" for each in self.scorers)
        )
        info = EvaluatorInfo(PASS_CONDITION, replace(own, parameters=parameters))
        return Scorer(info, self._evaluate, max_concurrency)

    def _evaluate(self, example: Example, attempt: Attempt) -> Any:
        """Call the pass condition, unless a judge has no result for the row: then the row does not pass."""
        attempt.success = False
        results = [(scorer.info.id, attempt.results.get(scorer.info.id)) for scorer in self.scorers]
        judged = [
            to_scorer_data(result, name) for name, result in results if result is not None and result.error is None
        ]
        if len(judged) < len(self.scorers):
            return None
        try:
            holds = self.passes(dict(example.properties), judged)
            return (
                self._evaluate_later(attempt, holds) if inspect.isawaitable(holds) else _to_evaluation(attempt, holds)
            )
        except BaseException as error:  # the user's code may raise anything
            attempt.error = error_text(error)
            raise

    async def _evaluate_later(self, attempt: Attempt, holds: Awaitable[Any]) -> Evaluation:
        try:
            return _to_evaluation(attempt, await holds)
        except EXIT_EXCEPTIONS:
            raise
        except BaseException as error:  # the user's code may raise anything
            attempt.error = error_text(error)
            raise


def _to_evaluation(attempt: Attempt, holds: Any) -> Evaluation:
    attempt.success = bool(holds)
    values = {name: result.grade.value for name, result in attempt.results.items()}
    return Evaluation(1.0 if attempt.success else 0.0, _PASS_AT_ONE, metadata=values)


@dataclass(frozen=True, slots=True)
class OfflineTest:
    """The parts of an offline test.

    Attributes:
        name: the suite's id.
        examples: the rows.
        versions: the judges.
        agent: the agent; without one the examples themselves are judged.
        arguments: the agent's arguments.
        passes: the pass condition.
        limits: concurrency and time limits.
        trace: finds the trace of an example by its id.
    """

    name: str
    examples: Sequence[Example]
    versions: Sequence[JudgeVersion]
    agent: AgentFunction | None = None
    arguments: ArgumentMapping | None = None
    passes: PassConditionFn | None = None
    limits: RunLimits = field(default_factory=RunLimits)
    trace: Callable[[str], Trace | None] = lambda _: None


def _name_target(agent: AgentFunction | None) -> dict[str, str] | None:
    """The agent, by which runs of one config differ; None without one, or if it is a lambda."""
    name = getattr(agent, "__name__", "")
    return {TARGET: name} if name.isidentifier() else None


@dataclass(slots=True)
class OfflineRun:
    """An offline test while it runs.

    Attributes:
        test: the test.
        advance: called when a judge is done with a row.
        attempts: the rows in the order of their start.
        tracer: records the agent's calls; None without an agent, or if traces are not possible.
    """

    test: OfflineTest
    advance: Callable[[], None] = lambda: None
    attempts: list[Attempt] = field(default_factory=list)
    tracer: OfflineTracer | None = field(default=None, init=False)
    _with_traces: bool = field(init=False)

    def __post_init__(self) -> None:
        if self.test.agent:
            with suppress(MissingExtra):
                self.tracer = OfflineTracer()
        self._with_traces = any(each.judge_type == "prompt" for each in self.test.versions)

    def suite(self, selection: Selection) -> Suite:
        """The suite of the selected cases."""
        test, scorers = self.test, self._build_scorers()
        suite = Suite(
            test.name,
            self.build_cases(selection.repeats or 1),
            self._task(),
            self.describe,
            lambda attempt: serialize_output(attempt.output),
            scorers,
            self._build_conclusion(scorers),
            lambda attempt: None if attempt.trace is None else attempt.trace.plain(),
            duration_form=self._duration_form(),
            limits=test.limits,
            variants=(_name_target(test.agent),),
        )
        return select_suite(suite, selection)

    def build_cases(self, repeats: int) -> list[Case]:
        """The cases of the suite."""
        return list(cases_of(self.test.examples, repeats))

    def describe(self, case: Case) -> Description:
        """A case as it is recorded."""
        return describe_example(case)

    def _duration_form(self) -> Callable[[Any], float | None] | None:
        return None

    def _build_scorers(self) -> Sequence[Scorer]:
        most = self.test.limits.max_case_concurrency
        return build_scorers(self.test.versions, self._subject, max_concurrency=most, observe=self._keep)

    def _build_conclusion(self, scorers: Sequence[Scorer]) -> Scorer | None:
        if self.test.passes is None:
            return None
        return PassCondition(self.test.passes, scorers).scorer(max_concurrency=self.test.limits.max_case_concurrency)

    def _task(self) -> Callable[[Example], Any]:
        test = self.test
        if test.agent is None or test.arguments is None:
            traced = any(example.offline_trace_id for example in test.examples)
            return self._with_trace if traced else self._begin_async
        return AgentTask(test.agent, test.arguments, self._begin, self._failed, self.tracer).task

    async def _begin_async(self, example: Example) -> Attempt:
        return self._begin(example)

    def _with_trace(self, example: Example) -> Attempt:
        """Begin with the trace of the example. Sync, so that the store is read in a thread."""
        attempt = self._begin(example)
        attempt.trace_id = example.offline_trace_id
        if attempt.trace_id is None:
            return attempt
        attempt.known_trace = self.test.trace(attempt.trace_id)
        if attempt.known_trace is None:
            attempt.error = f"there is no trace {attempt.trace_id!r:.60}"
            self._failed(attempt)
            raise JudgmentValidationError(attempt.error, advice="Bring it in with client.traces.add_from_otlp(…).")
        return attempt

    def _begin(self, example: Example) -> Attempt:
        attempt = Attempt(example, success=None if self.test.passes is None else False)
        self.attempts.append(attempt)
        return attempt

    def _failed(self, attempt: Attempt) -> None:  # noqa: ARG002
        for _ in self.test.versions:
            self.advance()

    def _subject(self, example: Example, attempt: Attempt) -> Subject:  # noqa: ARG002
        if attempt.judged is None:
            attempt.judged = attempt.subject(with_trace=self._with_traces)
        return attempt.judged

    def _keep(self, scorer: str, attempt: Attempt, result: JudgeResult) -> None:
        attempt.add_result(scorer, result)
        if len(attempt.results) == len(self.test.versions):
            attempt.judged = None
        self.advance()
