"""Metrics as scorers of the engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from scoregate.engine.evaluators import make_scorer
from scoregate.engine.fingerprint import digest, fingerprint_object
from scoregate.engine.fingerprint import fingerprint_function as function_fingerprint
from scoregate.errors import MetricError
from scoregate.grading.grade import Grade
from scoregate.grading.scorers import SubjectReader, build_scorer
from scoregate.grading.subject import Subject
from scoregate.kernel.types.event_values import Fingerprint
from scoregate.kernel.types.suite import Scorer
from scoregate.metrics.function import FunctionMetric
from scoregate.metrics.judges import Judge
from scoregate.metrics.metric import Metric

# `requires_context` decides whether there is a score, and changes none.
_NO_EFFECT = ("name", "id", "description", "metric_type", "metric_scope", "requires_context")
_IN_PROMPT = ("evaluation_prompt", "evaluation_steps", "reasoning", "evaluation_examples", "model")


def build_scorers(metrics: Iterable[Any], read_subject: SubjectReader, *, max_concurrency: int = 10) -> list[Scorer]:
    """A scorer for each metric.

    Args:
        metrics: metrics, and evaluators of `scoregate.testing`. The engine calls these with a case and the output of
            the function under test, as many at a time as they allow.
        read_subject: makes the subject of metrics from a case and the output of the function under test.
        max_concurrency: how many subjects a metric grades at a time.

    Raises:
        MetricError: an object is neither, or two have the same name.
    """
    scorers = []
    for number, metric in enumerate(metrics, 1):
        if isinstance(metric, Metric):
            scorers.append(_metric_scorer(metric, read_subject, max_concurrency))
            continue
        try:
            scorers.append(make_scorer(metric))
        except Exception as error:  # an `id` may be a property that raises
            raise MetricError(
                f"metric {number} ({type(metric).__name__}) is neither a metric nor an evaluator: {error}",
            ) from None
    duplicates = [name for name, count in Counter(scorer.info.id for scorer in scorers).items() if count > 1]
    if duplicates:
        raise MetricError(
            f"several metrics have the name {duplicates[0]!r:.60}",
            advice='Give each a name of its own, as in name="polite".',
        )
    return scorers


def _metric_scorer(metric: Any, read_subject: SubjectReader, max_concurrency: int) -> Scorer:
    def grade(subject: Subject) -> Grade | None:
        return metric.grade_here(subject) if metric.applies(subject) else None

    async def grade_in_loop(subject: Subject) -> Grade | None:
        return await metric.graded(subject) if metric.applies(subject) else None

    is_sync = isinstance(metric, FunctionMetric) and not metric.is_async
    return build_scorer(
        metric.name,
        grade if is_sync else grade_in_loop,
        read_subject,
        fingerprint=metric_fingerprint(metric),
        higher_is_better=metric.higher_is_better,
        choices=metric.possible_scores(),
        max_concurrency=max_concurrency,
    )


def metric_fingerprint(metric: Metric) -> Fingerprint:
    """What the scores of a metric depend on."""
    if isinstance(metric, FunctionMetric):
        own = fingerprint_object(metric, ignore=(*_NO_EFFECT, "function"))
        code = function_fingerprint(metric.function)
        return replace(code, parameters=digest(own.parameters or "", code.parameters or ""))
    if not isinstance(metric, Judge):
        return fingerprint_object(metric, ignore=_NO_EFFECT)
    ignore = (*_NO_EFFECT, *_IN_PROMPT)
    return fingerprint_object(metric, ignore=ignore, model=metric.model_name(), prompt=metric.prompt_version())
