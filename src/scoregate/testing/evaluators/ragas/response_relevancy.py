"""Does the response answer what was asked?"""

from __future__ import annotations

import abc
from typing import Any, Generic

from scoregate.testing.evaluators.ragas.base import RagasEvaluator
from scoregate.testing.evaluators.ragas.mappers import MapsResponse, MapsUserInput
from scoregate.testing.models import OutputType, TestCaseType


class BaseRagasResponseRelevancy(
    MapsUserInput[TestCaseType, OutputType],
    MapsResponse[OutputType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """How near the questions that the response would answer are to the one that was asked, in [0, 1]."""

    metric = ("_answer_relevance", "ResponseRelevancy")
    needs = ("llm", "embeddings")
    llm: Any = None
    embeddings: Any = None
