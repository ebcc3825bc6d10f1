"""Evaluators ready to be subclassed, one class a file."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scoregate.judging.fence import fenced
from scoregate.testing.evaluators.accuracy import Accuracy, BaseAccuracy
from scoregate.testing.evaluators.assertions import Assertions, BaseAssertions
from scoregate.testing.evaluators.automatic_battle import AutomaticBattle, BaseAutomaticBattle
from scoregate.testing.evaluators.custom_llm_judge import BaseCustomLLMJudge, CustomLLMJudge
from scoregate.testing.evaluators.has_all_substrings import BaseHasAllSubstrings, HasAllSubstrings
from scoregate.testing.evaluators.is_equals import BaseIsEquals, IsEquals
from scoregate.testing.evaluators.is_valid_json import BaseIsValidJSON, IsValidJSON
from scoregate.testing.evaluators.llm_judge import BaseLLMJudge, LLMJudge
from scoregate.testing.evaluators.manual_battle import BaseManualBattle, ManualBattle
from scoregate.testing.evaluators.nsfw import NSFW, BaseNSFW
from scoregate.testing.evaluators.toxicity import BaseToxicity, Toxicity

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
    """The evaluators of ragas, for those who name them: their room has an effect on the environment."""
    if name.startswith("BaseRagas") and name in __all__:
        return getattr(import_module("scoregate.testing.evaluators.ragas"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
