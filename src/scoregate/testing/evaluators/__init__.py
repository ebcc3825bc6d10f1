"""Evaluators ready to be subclassed, one class a file."""

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
