"""Does the response mean what the reference means?"""

from __future__ import annotations

import abc
from typing import Any, Generic

from scoregate.testing.evaluators.ragas.base import RagasEvaluator
from scoregate.testing.evaluators.ragas.mappers import MapsReference, MapsResponse
from scoregate.testing.models import OutputType, TestCaseType


class BaseRagasSemanticSimilarity(
    MapsResponse[OutputType],
    MapsReference[TestCaseType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The cosine of the response and the reference, in [0, 1]."""

    metric = ("_answer_similarity", "SemanticSimilarity")
    needs = ("embeddings",)
    embeddings: Any = None
