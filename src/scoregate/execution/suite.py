"""A suite of tests: the cases, the task and a scorer for each metric."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, TypeAlias

from scoregate.core.event_values import ErrorInfo, Fingerprint
from scoregate.core.runs.cases import CaseResult
from scoregate.core.suite import TARGET, RunLimits, Scorer, Suite
from scoregate.engine.calls import is_async
from scoregate.engine.environment import count_all_trials, events_folder, read_selection, run_message, select_cases
from scoregate.engine.event_log import EventLog
from scoregate.engine.exit_status import fail_if_unmeasured, is_called_by_script
from scoregate.engine.imports import caller_origin
from scoregate.engine.named_run import run_named_suite
from scoregate.engine.results import make_lazy_result
from scoregate.engine.run import finish_suite
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
from scoregate.metrics import Metric, build_scorers

Task: TypeAlias = Callable[[TestLike], Awaitable[Answer]]


def build_test_suite(
    name: str,
    tests: Iterable[TestLike],
    task: Task,
    metrics: MetricSelection,
    *,
    conversations: ConversationOptions,
    limits: RunLimits,
    target: str | None = None,
) -> Suite:
    """The suite of those tests that the environment selects.

    Args:
        name: the id of the suite.
        tests: all tests.
        task: returns the answer to a test.
        metrics: judge the answers.
        conversations: the options of conversations.
        limits: the limits of the suite.
        target: the name of the endpoint, by which suites of one name differ; None if its file names it.

    Raises:
        MetricError: a metric is invalid, or two have one name.
        ModelError: there is no model of this name.
    """
    selected = read_selection()
    cases = list(make_cases(tests, selected.repeats or 1))
    kept = list(select_cases(cases, name, selected, describe_case))
    problems = []
    if not kept and (selected.choice is None or not cases):
        problem = "none of its tests has a selected hash" if cases else "it has no tests"
        problems.append(ErrorInfo("InvalidSuite", f"suite {name!r:.200}: {problem}"))
    scorers = make_scorers([case.value for case in kept], metrics, conversations, limits.max_case_concurrency)
    return Suite(
        name,
        kept,
        task,
        describe_case,
        record_output,
        scorers,
        trace_form=record_details,
        limits=limits,
        variants=(None if target is None else {TARGET: target},),
        problems=problems,
        total=count_all_trials(cases, selected),
    )


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


def run_tests(suite: Suite, title: str | None = None) -> EventLog:
    """Run a suite to its end in this process.

    Events go to the folder that the host reads, else to a temporary file.

    Args:
        suite: the suite.
        title: the title of the run, unless the environment sets one.
    """
    suite = replace(suite, origin=caller_origin(), message=run_message() or title)
    started, is_main = perf_counter(), is_called_by_script()
    (log,) = run_named_suite(suite, events_folder(), is_main=is_main, reuses=True, in_new_thread=True)
    finish_suite(log, started)
    if suite.scorers:  # one that only asks for answers has nothing to score
        fail_if_unmeasured([log], is_main=is_main)
    return log


def read_outcomes(suite: Suite, log: EventLog) -> Iterator[tuple[TestLike, CaseResult]]:
    """Each test with its result, read from the log one by one."""
    tests = {case.hash: case.value for case in suite.cases}
    return ((tests[case.hash], case) for case in make_lazy_result(log).cases)
