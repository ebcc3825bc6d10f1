"""Evaluators of pydantic_evals as scorers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from scoregate.engine.fingerprint import fingerprint_object
from scoregate.evals.rows import METADATA, Row
from scoregate.evals.scores import ScoreReader
from scoregate.evals.task import Outcome
from scoregate.kernel.types.evaluation import Evaluation, Label, Scores
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.suite import Scorer

_READER = ScoreReader()


def adapt_evaluator(evaluator: Any) -> Scorer:
    """The scorer of an evaluator. It has no access to spans.

    Raises:
        TypeError: the object has no method `evaluate_async`.
    """
    if not callable(getattr(evaluator, "evaluate_async", None)):
        raise TypeError("it has no method `evaluate_async`, so it is not an evaluator of cases")
    read_name = getattr(evaluator, "get_default_evaluation_name", None)
    name = read_name() if callable(read_name) else type(evaluator).__name__

    async def score(row: Row, outcome: Outcome) -> Any:
        return _read_result(await evaluator.evaluate_async(_make_context(row, outcome)))

    return Scorer(EvaluatorInfo(str(name), fingerprint_object(evaluator, ignore=("evaluation_name",))), score)


def _make_context(row: Row, outcome: Outcome) -> Any:
    evaluators = import_module("pydantic_evals.evaluators")
    tracing = import_module("pydantic_evals.otel")
    no_spans = tracing.SpanTreeRecordingError("scoregate records no spans for evaluators of pydantic_evals")
    return evaluators.EvaluatorContext(
        name=row.fields.get("name"),
        inputs=row.input,
        metadata=row.fields.get(METADATA),
        expected_output=row.expected,
        output=outcome.value,
        duration=outcome.duration_s,
        _span_tree=no_spans,
        attributes={},
        metrics={},
    )


def _read_result(result: Any) -> Any:
    if isinstance(result, Mapping):
        return Scores({str(name): _read_one(value) for name, value in result.items()})
    return _read_one(result)


def _read_one(result: Any) -> Evaluation | Label | None:
    """A bool, a number, or a text, which is a label; each may have a reason."""
    reason = None
    if hasattr(result, "value") and hasattr(result, "reason"):
        result, reason = result.value, result.reason
    metadata = {"reason": reason} if reason else None
    if isinstance(result, str):
        return Label(result, metadata)
    evaluation = _READER.read(result)
    if not isinstance(evaluation, Evaluation):
        return None
    return Evaluation(evaluation.score, evaluation.threshold, metadata)
