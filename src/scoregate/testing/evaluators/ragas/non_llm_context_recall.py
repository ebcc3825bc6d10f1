"""Was found what should be found, by comparing strings?"""

from __future__ import annotations

import abc
from typing import Generic

from scoregate.testing.evaluators.ragas.base import RagasEvaluator
from scoregate.testing.evaluators.ragas.mappers import MapsReferenceContexts, MapsRetrievedContexts
from scoregate.testing.models import OutputType, TestCaseType


class BaseRagasNonLLMContextRecall(
    MapsRetrievedContexts[TestCaseType, OutputType],
    MapsReferenceContexts[TestCaseType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The part of the reference contexts that a retrieved one resembles, in [0, 1]."""

    metric = ("_context_recall", "NonLLMContextRecall")
