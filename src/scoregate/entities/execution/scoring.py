"""Metrics as the engine takes them: each has its say on the tests that it is meant for, and on no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from scoregate.core.parts import EvaluatorInfo, Fingerprint
from scoregate.core.suite import Scorer
from scoregate.engine.call import is_async
from scoregate.entities.execution.asked import Asked
from scoregate.entities.execution.measures import Measures
from scoregate.entities.execution.subjects import Answer, seen, subject_of
from scoregate.judging.templates import digest
from scoregate.metrics import Metric, scorers_of


def scorers_for(
    measures: Measures, behaviors: Iterable[str], *, talks: str | None = None, max_concurrency: int = 10
) -> list[Scorer]:
    """A scorer for each metric that tests of these behaviors have.

    Args:
        talks: a digest of how conversations are led, where there are any: scores depend on that too.
        max_concurrency: how many answers a metric judges at a time.

    Raises:
        MetricError: something is no metric, or two have one name. ModelError: the name of a model names nothing.
    """
    metrics = measures.every(behaviors)
    scorers = scorers_of(metrics, subject_of, max_concurrency=max_concurrency)
    return [_narrowed(scorer, metric, measures, talks) for scorer, metric in zip(scorers, metrics, strict=True)]


def _narrowed(scorer: Scorer, metric: Any, measures: Measures, talks: str | None) -> Scorer:
    shown: Callable[[Answer], Any] = _same if isinstance(metric, Metric) else seen
    info = scorer.info if talks is None else _marked(scorer.info, talks)

    def concerns(test: Asked) -> bool:
        return any(each is metric for each in measures.of(test))

    async def score_in_loop(test: Asked, answer: Answer, **more: Any) -> Any:
        return await scorer.score(test, shown(answer), **more) if concerns(test) else None

    def score(test: Asked, answer: Answer, **more: Any) -> Any:
        return scorer.score(test, shown(answer), **more) if concerns(test) else None

    return scorer._replace(info=info, score=score_in_loop if is_async(scorer.score) else score)


def _same(answer: Answer) -> Answer:
    return answer


def _marked(info: EvaluatorInfo, mark: str) -> EvaluatorInfo:
    own = info.fingerprint or Fingerprint()
    return replace(info, fingerprint=replace(own, parameters=digest(own.parameters or "", mark)))
