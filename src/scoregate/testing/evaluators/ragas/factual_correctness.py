"""Do the claims of the response and those of the reference agree?"""

from __future__ import annotations

import abc
from typing import Any, Generic

from scoregate.testing.evaluators.ragas.base import RagasEvaluator
from scoregate.testing.evaluators.ragas.mappers import MapsReference, MapsResponse
from scoregate.testing.models import OutputType, TestCaseType


class BaseRagasFactualCorrectness(
    MapsResponse[OutputType],
    MapsReference[TestCaseType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """Precision, recall or F1 of the response's claims, in [0, 1].

    `mode` is "precision", "recall" or "f1"; `atomicity`, how finely claims are cut, is "low" or "high". Unset ones
    are ragas' own.
    """

    metric = ("_factual_correctness", "FactualCorrectness")
    needs = ("llm",)
    llm: Any = None
    mode: str | None = None
    atomicity: str | None = None

    def options(self) -> dict[str, Any]:
        """What is set of the mode and the atomicity."""
        return self._choice("mode", ("precision", "recall", "f1")) | self._choice("atomicity", ("low", "high"))
