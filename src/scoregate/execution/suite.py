"""A suite of tests: the cases, the task and a scorer for each metric."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from scoregate.engine.calls import is_async
from scoregate.engine.driver import Front
from scoregate.engine.environment import Selection, select_suite
from scoregate.enums import TestType
from scoregate.execution.cases import TestLike, describe_case, make_cases
from scoregate.execution.conversation import (
    Answer,
    ConversationOptions,
    evaluator_output,
    make_subject,
    record_details,
    record_output,
)
from scoregate.execution.metrics import MetricSelection
from scoregate.grading.prompts import digest_texts
from scoregate.kernel.types.event_values import ErrorInfo, Fingerprint
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.suite import TARGET, RunLimits, Scorer, Suite
from scoregate.metrics import Metric, build_scorers

if TYPE_CHECKING:
    from scoregate.engine.eval_result import EvalResult

Task: TypeAlias = Callable[[TestLike], Awaitable[Answer]]
Prepare: TypeAlias = Callable[[Selection], tuple[Suite, MetricSelection]]


def build_test_suite(
    name: str,
    tests: Iterable[TestLike],
    task: Task,
    metrics: MetricSelection,
    *,
    conversations: ConversationOptions,
    limits: RunLimits,
    selection: Selection,
    target: str | None = None,
) -> Suite:
    """The suite of the selected tests.

    Args:
        name: the id of the suite.
        tests: all tests.
        task: returns the answer to a test.
        metrics: judge the answers.
        conversations: the options of conversations.
        limits: the limits of the suite.
        selection: what to select.
        target: the name of the endpoint, by which suites of one name differ; None if its file names it.

    Raises:
        MetricError: a metric is invalid, or two have one name.
        ModelError: there is no model of this name.
    """
    cases = list(make_cases(tests, selection.repeats or 1))
    problems = [] if cases else [ErrorInfo("InvalidSuite", f"suite {name!r:.200}: it has no tests")]
    suite = Suite(
        name,
        cases,
        task,
        describe_case,
        record_output,
        trace_form=record_details,
        limits=limits,
        variants=(None if target is None else {TARGET: target},),
        problems=problems,
    )
    suite = select_suite(suite, selection, "none of its tests has a selected hash")
    selected = [case.value for case in suite.cases]
    return replace(suite, scorers=make_scorers(selected, metrics, conversations, limits.max_case_concurrency))


def make_scorers(
    tests: Sequence[TestLike], metrics: MetricSelection, conversations: ConversationOptions, max_concurrency: int
) -> list[Scorer]:
    """A scorer for each metric of the tests, in the order of `metrics.for_tests`.

    The scores of conversations depend on the simulated user, so that its version is in their fingerprints.
    """
    has_conversations = any(test.turns is TestType.MULTI_TURN for test in tests)
    version = conversations.version() if has_conversations else None
    used = metrics.for_tests(tests)
    scorers = build_scorers(used, make_subject, max_concurrency=max_concurrency)
    return [_limit_to_tests(scorer, metric, metrics, version) for scorer, metric in zip(scorers, used, strict=True)]


def _limit_to_tests(scorer: Scorer, metric: Any, metrics: MetricSelection, version: str | None) -> Scorer:
    """The scorer, for the tests that have its metric; None for others."""
    is_metric = isinstance(metric, Metric)

    def applies(test: TestLike) -> bool:
        return any(each is metric for each in metrics.for_test(test))

    def score(test: TestLike, answer: Answer, **more: Any) -> Any:
        if not applies(test):
            return None
        return scorer.score(test, answer if is_metric else evaluator_output(answer), **more)

    async def score_in_loop(test: TestLike, answer: Answer, **more: Any) -> Any:
        return await score(test, answer, **more) if applies(test) else None

    info = scorer.info
    if version is not None:
        own = info.fingerprint or Fingerprint()
        parameters = digest_texts(own.parameters or "", version)
        info = replace(info, fingerprint=replace(own, parameters=parameters))
    return scorer._replace(info=info, score=score_in_loop if is_async(scorer.score) else score)


class ExecutionFront(Front):
    """The run of tests. It has `metrics` as soon as it is prepared, and `outcomes` at its end.

    Args:
        prepare: makes the suite of the selected tests, and selects their metrics.
        title: the title of the run, unless the environment sets one.

    Attributes:
        outcomes: each test with its result, read from the log one by one.
    """

    needs_scores = False  # a suite that only asks for answers has nothing to score

    def __init__(self, prepare: Prepare, title: str | None = None) -> None:
        super().__init__(self._build, title=title)
        self._prepare = prepare
        self.outcomes: Iterator[tuple[TestLike, CaseResult]] = iter(())

    def _build(self, selection: Selection) -> Suite:
        suite, metrics = self._prepare(selection)
        tests = [case.value for case in suite.cases]
        names = (scorer.info.id for scorer in suite.scorers)
        self._tests = dict(zip((case.hash for case in suite.cases), tests, strict=True))
        self.metrics: dict[str, Any] = dict(zip(names, metrics.for_tests(tests), strict=True))
        return suite

    def conclude(self, result: EvalResult, *, alone: bool) -> None:  # noqa: ARG002
        """Pass on the results."""
        self.outcomes = ((self._tests[case.hash], case) for case in result.cases)
