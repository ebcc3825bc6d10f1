"""Do the texts that should be found stand first, by comparing strings?"""

from __future__ import annotations

import abc
from typing import Generic

from scoregate.testing.evaluators.ragas.base import RagasEvaluator
from scoregate.testing.evaluators.ragas.mappers import MapsReferenceContexts, MapsRetrievedContexts
from scoregate.testing.models import OutputType, TestCaseType


class BaseRagasNonLLMContextPrecisionWithReference(
    MapsRetrievedContexts[TestCaseType, OutputType],
    MapsReferenceContexts[TestCaseType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The mean precision of the retrieved contexts, in [0, 1]; those are relevant that resemble a reference context."""

    metric = ("_context_precision", "NonLLMContextPrecisionWithReference")
