"""Do the retrieved texts name what the reference names?"""

from __future__ import annotations

import abc
from typing import Any, Generic

from scoregate.testing.evaluators.ragas.base import RagasEvaluator
from scoregate.testing.evaluators.ragas.mappers import MapsReference, MapsRetrievedContexts
from scoregate.testing.models import OutputType, TestCaseType


class BaseRagasContextEntitiesRecall(
    MapsReference[TestCaseType],
    MapsRetrievedContexts[TestCaseType, OutputType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The part of the reference's entities that the retrieved contexts have, in [0, 1]."""

    metric = ("_context_entities_recall", "ContextEntityRecall")
    needs = ("llm",)
    llm: Any = None
