"""From examples, judges and an agent to a suite that the engine runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from scoregate.core.parts import Origin
from scoregate.core.suite import Limits, Suite
from scoregate.core.trace import Trace
from scoregate.datasets import Example
from scoregate.engine.environment import Selection, chosen
from scoregate.engine.outputs import output_form
from scoregate.errors import JudgmentValidationError
from scoregate.judges import JudgeResult, JudgeVersion, Subject, scorers_of
from scoregate.offline_tests.agents import Filling
from scoregate.offline_tests.calls import Calls
from scoregate.offline_tests.conclusion import Conclusion
from scoregate.offline_tests.rows import Attempt, cases_of, describe
from scoregate.offline_tests.tracer import OfflineTracer
from scoregate.offline_tests.types import AgentFunction, PassConditionFn


@dataclass(frozen=True, slots=True)
class OfflineTest:
    """All that a run is made of. `filling` tells how the agent is called; without an agent the examples are judged.

    `title` is what the user calls this run, where that was said; `trace` finds what examples point to.
    """

    name: str
    title: str | None
    examples: Sequence[Example]
    versions: Sequence[JudgeVersion]
    agent: AgentFunction | None = None
    filling: Filling | None = None
    passes: PassConditionFn | None = None
    limits: Limits = field(default_factory=Limits)
    trace: Callable[[str], Trace | None] = lambda _: None


@dataclass(slots=True)
class Course:
    """A run under way: `attempts` are its rows as they began; `advance` is called when a judge is done with one."""

    test: OfflineTest
    advance: Callable[[], None] = lambda: None
    attempts: list[Attempt] = field(default_factory=list)
    tracer: OfflineTracer | None = None
    _told: bool = field(init=False)

    def __post_init__(self) -> None:
        self._told = any(each.judge_type == "prompt" for each in self.test.versions)

    def suite(self, selection: Selection, *, message: str | None, origin: Origin | None) -> Suite:
        """The suite of the cases that the environment asks for."""
        test, most = self.test, self.test.limits.max_case_concurrency
        scorers = scorers_of(test.versions, self._subject, max_concurrency=most, keep=self._keep)
        conclusion = Conclusion(test.passes, scorers).scorer(max_concurrency=most) if test.passes else None
        return Suite(
            test.name,
            list(chosen(list(cases_of(test.examples, selection.repeats or 1)), test.name, selection)),
            self._task(),
            describe,
            lambda attempt: output_form(attempt.output),
            scorers,
            conclusion,
            _trace_of,
            limits=test.limits,
            origin=origin,
            message=message,
        )

    def _task(self) -> Callable[[Example], Any]:
        test = self.test
        if test.agent is None or test.filling is None:
            traced = any(example.offline_trace_id for example in test.examples)
            return self._with_trace if traced else self._judged_only
        return Calls(test.agent, test.filling, self._begin, self._failed, self.tracer).task

    async def _judged_only(self, example: Example) -> Attempt:
        return self._begin(example)

    def _with_trace(self, example: Example) -> Attempt:
        """With the trace that the example points to; in a thread, since that is read from the store."""
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
            attempt.judged = attempt.subject(told=self._told)
        return attempt.judged

    def _keep(self, scorer: str, attempt: Attempt, result: JudgeResult) -> None:
        attempt.keep(scorer, result)
        if len(attempt.results) == len(self.test.versions):
            attempt.judged = None
        self.advance()


def _trace_of(attempt: Attempt) -> dict[str, Any] | None:
    trace = attempt.trace
    return None if trace is None else trace.plain()
