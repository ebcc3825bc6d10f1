"""Evaluators ready to be subclassed, one class a file."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scoregate.testing.evaluators.assertions import Assertions, BaseAssertions
from scoregate.testing.evaluators.has_all_substrings import BaseHasAllSubstrings, HasAllSubstrings
from scoregate.testing.evaluators.is_equals import BaseIsEquals, IsEquals
from scoregate.testing.evaluators.is_valid_json import BaseIsValidJSON, IsValidJSON

if TYPE_CHECKING:
    from scoregate.testing.evaluators.ragas import (
        BaseRagasContextEntitiesRecall,
        BaseRagasFactualCorrectness,
        BaseRagasFaithfulness,
        BaseRagasLLMContextPrecisionWithReference,
        BaseRagasLLMContextRecall,
        BaseRagasNoiseSensitivity,
        BaseRagasNonLLMContextPrecisionWithReference,
        BaseRagasNonLLMContextRecall,
        BaseRagasResponseRelevancy,
        BaseRagasSemanticSimilarity,
    )

__all__ = [
    "Assertions",
    "BaseAssertions",
    "BaseHasAllSubstrings",
    "BaseIsEquals",
    "BaseIsValidJSON",
    "BaseRagasContextEntitiesRecall",
    "BaseRagasFactualCorrectness",
    "BaseRagasFaithfulness",
    "BaseRagasLLMContextPrecisionWithReference",
    "BaseRagasLLMContextRecall",
    "BaseRagasNoiseSensitivity",
    "BaseRagasNonLLMContextPrecisionWithReference",
    "BaseRagasNonLLMContextRecall",
    "BaseRagasResponseRelevancy",
    "BaseRagasSemanticSimilarity",
    "HasAllSubstrings",
    "IsEquals",
    "IsValidJSON",
]


def __getattr__(name: str) -> Any:
    """The evaluators of ragas, for those who name them: their room has an effect on the environment."""
    if name.startswith("BaseRagas") and name in __all__:
        return getattr(import_module("scoregate.testing.evaluators.ragas"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
