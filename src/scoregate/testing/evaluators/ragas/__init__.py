"""Metrics of ragas as evaluators, one class a file; ragas itself (an extra) is imported when the first is evaluated."""

import os

from scoregate.testing.evaluators.ragas.context_entities_recall import BaseRagasContextEntitiesRecall
from scoregate.testing.evaluators.ragas.factual_correctness import BaseRagasFactualCorrectness
from scoregate.testing.evaluators.ragas.faithfulness import BaseRagasFaithfulness
from scoregate.testing.evaluators.ragas.llm_context_precision import BaseRagasLLMContextPrecisionWithReference
from scoregate.testing.evaluators.ragas.llm_context_recall import BaseRagasLLMContextRecall
from scoregate.testing.evaluators.ragas.noise_sensitivity import BaseRagasNoiseSensitivity
from scoregate.testing.evaluators.ragas.non_llm_context_precision import BaseRagasNonLLMContextPrecisionWithReference
from scoregate.testing.evaluators.ragas.non_llm_context_recall import BaseRagasNonLLMContextRecall
from scoregate.testing.evaluators.ragas.response_relevancy import BaseRagasResponseRelevancy
from scoregate.testing.evaluators.ragas.semantic_similarity import BaseRagasSemanticSimilarity

__all__ = [
    "BaseRagasContextEntitiesRecall",
    "BaseRagasFactualCorrectness",
    "BaseRagasFaithfulness",
    "BaseRagasLLMContextPrecisionWithReference",
    "BaseRagasLLMContextRecall",
    "BaseRagasNoiseSensitivity",
    "BaseRagasNonLLMContextPrecisionWithReference",
    "BaseRagasNonLLMContextRecall",
    "BaseRagasResponseRelevancy",
    "BaseRagasSemanticSimilarity",
]

# As early as this: the models that a user makes for these classes would already be told to ragas' makers.
os.environ.setdefault("RAGAS_DO_NOT_TRACK", "true")
