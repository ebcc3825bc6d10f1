"""How often does the response say something wrong that a retrieved text told it?"""

from __future__ import annotations

import abc
from typing import Any, Generic

from scoregate.testing.evaluators.ragas.base import RagasEvaluator
from scoregate.testing.evaluators.ragas.installed import metric_class
from scoregate.testing.evaluators.ragas.mappers import (
    MapsReference,
    MapsResponse,
    MapsRetrievedContexts,
    MapsUserInput,
)
from scoregate.testing.models import OutputType, TestCaseType


class BaseRagasNoiseSensitivity(
    MapsUserInput[TestCaseType, OutputType],
    MapsResponse[OutputType],
    MapsReference[TestCaseType],
    MapsRetrievedContexts[TestCaseType, OutputType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The part of the response's statements that are wrong and stand in a retrieved context, in [0, 1]; 0 is best.

    `focus` is on "relevant" or "irrelevant" contexts; unset, it is ragas' own.
    """

    metric = ("_noise_sensitivity", "NoiseSensitivity")
    higher_is_better = False
    needs = ("llm",)
    llm: Any = None
    focus: str | None = None

    def options(self) -> dict[str, Any]:
        """The focus, if any, under the name that the installed version has for it."""
        name = "focus" if "focus" in metric_class(*self.metric).__dataclass_fields__ else "mode"
        return {name: self.focus} if self._choice("focus", ("relevant", "irrelevant")) else {}
