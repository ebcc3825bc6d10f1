"""DeepEval's metrics on the rows of `retrieval_agreement.py`, without reasons, which don't change scores."""
# mypy: disable-error-code="import-not-found"

from functools import partial
from typing import Any

from agreement_rows import MODEL, Row, Scored, read_texts, score_rows
from deepeval.metrics import (
    AnswerRelevancyMetric,
    ContextualPrecisionMetric,
    ContextualRecallMetric,
    FaithfulnessMetric,
    HallucinationMetric,
)
from deepeval.models import GPTModel
from deepeval.test_case import LLMTestCase

OPTIONS: "dict[str, Any]" = {"model": GPTModel(model=MODEL), "include_reason": False}
METRICS = {
    "faithfulness": FaithfulnessMetric(**OPTIONS),
    "faithfulness, strict": FaithfulnessMetric(**OPTIONS, penalize_ambiguous_claims=True),
    "answer_relevancy": AnswerRelevancyMetric(**OPTIONS),
    "context_precision": ContextualPrecisionMetric(**OPTIONS),
    "context_recall": ContextualRecallMetric(**OPTIONS),
    "hallucination": HallucinationMetric(**OPTIONS),
}


async def score(metric: Any, row: Row) -> Scored:
    """Score one row."""
    texts = read_texts(row)
    case = LLMTestCase(
        input=row["input"],
        actual_output=row["answer"],
        expected_output=row["expected"],
        retrieval_context=texts,
        context=texts,
    )
    value = await metric.a_measure(case, _show_indicator=False)
    return Scored(value, [str(each.verdict) for each in metric.verdicts])


score_rows("deepeval", {name: partial(score, metric) for name, metric in METRICS.items()})
