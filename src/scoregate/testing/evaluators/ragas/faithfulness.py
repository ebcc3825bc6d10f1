"""Does the response say only what the retrieved texts say?"""

from __future__ import annotations

import abc
from typing import Any, Generic

from scoregate.testing.evaluators.ragas.base import RagasEvaluator
from scoregate.testing.evaluators.ragas.mappers import MapsResponse, MapsRetrievedContexts, MapsUserInput
from scoregate.testing.models import OutputType, TestCaseType


class BaseRagasFaithfulness(
    MapsUserInput[TestCaseType, OutputType],
    MapsResponse[OutputType],
    MapsRetrievedContexts[TestCaseType, OutputType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The part of the response's statements that the retrieved contexts support, in [0, 1].

    `focus` may be set, as in the SDK that this one is shaped after; no version of ragas has it here, so it changes
    nothing.
    """

    metric = ("_faithfulness", "Faithfulness")
    needs = ("llm",)
    llm: Any = None
    focus: str | None = None
