"""Metrics as the engine takes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeAlias

from scoregate.core.evaluation import Evaluation
from scoregate.core.parts import EvaluatorInfo, Fingerprint
from scoregate.core.suite import Scorer
from scoregate.engine.callables import fingerprint_of as of_function
from scoregate.engine.evaluators import scorer_of
from scoregate.engine.fingerprint import digest, fingerprint
from scoregate.errors import MetricError
from scoregate.metrics.function import FunctionMetric
from scoregate.metrics.grade import Grade
from scoregate.metrics.judge import Judge
from scoregate.metrics.metric import Metric
from scoregate.metrics.subject import Subject

Read: TypeAlias = Callable[[Any, Any], Subject]
_WITHOUT_EFFECT = ("name", "id", "description", "metric_type", "metric_scope")
_ASKED = ("evaluation_prompt", "evaluation_steps", "reasoning", "evaluation_examples", "model")


def scorers_of(metrics: Iterable[Any], subject: Read, *, max_concurrency: int = 10) -> list[Scorer]:
    """A scorer for each metric.

    Args:
        metrics: metrics, and evaluators of `scoregate.testing`: these are called with a case and what the function
            under test returned, as many at a time as they say.
        subject: what metrics judge, out of a case and what the function under test returned.
        max_concurrency: how many subjects a metric judges at a time.

    Raises:
        MetricError: something is neither, or two have one name.
    """
    scorers = [
        _scorer(metric, subject, max_concurrency) if isinstance(metric, Metric) else _evaluator(number, metric)
        for number, metric in enumerate(metrics, 1)
    ]
    twice = [name for name, count in Counter(scorer.info.id for scorer in scorers).items() if count > 1]
    if twice:
        raise MetricError(
            f"several metrics are called {twice[0]!r:.60}", advice='Give each a name of its own, as in name="polite".'
        )
    return scorers


def fingerprint_of(metric: Metric) -> Fingerprint:
    """What its scores depend on."""
    if isinstance(metric, FunctionMetric):
        own, code = fingerprint(metric, ignore=(*_WITHOUT_EFFECT, "function")), of_function(metric.function)
        return replace(code, parameters=digest(own.parameters or "", code.parameters or ""))
    if not isinstance(metric, Judge):
        return fingerprint(metric, ignore=_WITHOUT_EFFECT)
    ignored = (*_WITHOUT_EFFECT, *_ASKED)
    return fingerprint(metric, ignore=ignored, model=metric.model_name(), prompt=metric.prompt_version())


def _evaluator(number: int, given: Any) -> Scorer:
    try:
        return scorer_of(given)
    except Exception as error:  # an `id` may be a property that raises
        raise MetricError(
            f"metric {number} ({type(given).__name__}) is neither a metric nor an evaluator: {error}",
        ) from None


def _scorer(metric: Metric, read: Read, max_concurrency: int) -> Scorer:
    info = EvaluatorInfo(metric.name, fingerprint_of(metric), metric.higher_is_better, choices=metric.possible_scores())
    sync = isinstance(metric, FunctionMetric) and not metric.is_async
    return Scorer(info, _in_thread(metric, read) if sync else _in_loop(metric, read), max_concurrency)


def _in_loop(metric: Metric, read: Read) -> Callable[[Any, Any], Any]:
    async def score(case: Any, output: Any) -> Evaluation | None:
        subject = read(case, output)
        return (await metric.graded(subject)).evaluation() if metric.applies(subject) else None

    return score


def _in_thread(metric: Any, read: Read) -> Callable[[Any, Any], Any]:
    """Sync code is called in the engine's own threads, several subjects a trip."""

    def score(case: Any, output: Any) -> Evaluation | None:
        subject = read(case, output)
        found: Grade | None = metric.graded_here(subject) if metric.applies(subject) else None
        return None if found is None else found.evaluation()

    return score
