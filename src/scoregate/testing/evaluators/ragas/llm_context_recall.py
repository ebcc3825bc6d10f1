"""Do the retrieved texts say what the reference says, in the eyes of a model?"""

from __future__ import annotations

import abc
from typing import Any, Generic

from scoregate.testing.evaluators.ragas.base import RagasEvaluator
from scoregate.testing.evaluators.ragas.mappers import MapsAllButResponse
from scoregate.testing.models import OutputType, TestCaseType


class BaseRagasLLMContextRecall(
    MapsAllButResponse[TestCaseType, OutputType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The part of the reference's statements that the retrieved contexts support, in [0, 1]."""

    metric = ("_context_recall", "LLMContextRecall")
    needs = ("llm",)
    llm: Any = None
