"""Do the texts that help to the reference stand first, in the eyes of a model?"""

from __future__ import annotations

import abc
from typing import Any, Generic

from scoregate.testing.evaluators.ragas.base import RagasEvaluator
from scoregate.testing.evaluators.ragas.mappers import MapsAllButResponse
from scoregate.testing.models import OutputType, TestCaseType


class BaseRagasLLMContextPrecisionWithReference(
    MapsAllButResponse[TestCaseType, OutputType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The mean precision of the retrieved contexts, in [0, 1]; a model says which are relevant."""

    metric = ("_context_precision", "LLMContextPrecisionWithReference")
    needs = ("llm",)
    llm: Any = None
