"""Evaluators to subclass."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scoregate.grading.prompts import fenced
from scoregate.testing.evaluators.battles import AutomaticBattle, BaseAutomaticBattle, BaseManualBattle, ManualBattle
from scoregate.testing.evaluators.checks import (
    Assertions,
    BaseAssertions,
    BaseHasAllSubstrings,
    BaseIsEquals,
    BaseIsValidJSON,
    HasAllSubstrings,
    IsEquals,
    IsValidJSON,
)
from scoregate.testing.evaluators.llm_judges import (
    NSFW,
    Accuracy,
    BaseAccuracy,
    BaseCustomLLMJudge,
    BaseLLMJudge,
    BaseNSFW,
    BaseToxicity,
    CustomLLMJudge,
    LLMJudge,
    Toxicity,
)

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
    "NSFW",
    "Accuracy",
    "Assertions",
    "AutomaticBattle",
    "BaseAccuracy",
    "BaseAssertions",
    "BaseAutomaticBattle",
    "BaseCustomLLMJudge",
    "BaseHasAllSubstrings",
    "BaseIsEquals",
    "BaseIsValidJSON",
    "BaseLLMJudge",
    "BaseManualBattle",
    "BaseNSFW",
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
    "BaseToxicity",
    "CustomLLMJudge",
    "HasAllSubstrings",
    "IsEquals",
    "IsValidJSON",
    "LLMJudge",
    "ManualBattle",
    "Toxicity",
    "fenced",
]


def __getattr__(name: str) -> Any:
    """The evaluators of ragas. They are imported late, because their package sets an environment variable."""
    if name.startswith("BaseRagas") and name in __all__:
        return getattr(import_module("scoregate.testing.evaluators.ragas"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
