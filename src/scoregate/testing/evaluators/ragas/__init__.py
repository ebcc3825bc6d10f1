"""Metrics of ragas as evaluators; ragas itself (an extra) is imported when the first one is evaluated."""

import os

from scoregate.testing.evaluators.ragas.metrics import (
    BaseRagasContextEntitiesRecall,
    BaseRagasFactualCorrectness,
    BaseRagasFaithfulness,
    BaseRagasLLMContextPrecisionWithReference,
    BaseRagasLLMContextRecall,
    BaseRagasNoiseSensitivity,
    BaseRagasNonLLMContextPrecisionWithReference,
    BaseRagasNonLLMContextRecall,
    BaseRagasResponseRelevancy,
    BaseRagasSemanticSimilarity,
)

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

# Set it on import: the models that a user creates for these classes would already send data to ragas' authors.
os.environ.setdefault("RAGAS_DO_NOT_TRACK", "true")
