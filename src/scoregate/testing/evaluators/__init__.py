"""Evaluators to subclass."""

from typing import TYPE_CHECKING

from scoregate.grading.prompts import fenced
from scoregate.kernel.types.lazy_names import make_dir, make_getattr
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

# They are imported late, because the package ragas sets an environment variable.
__dir__ = make_dir(__name__)
__getattr__ = make_getattr(__name__, {".ragas": (name for name in __all__ if name.startswith("BaseRagas"))})
