"""Evaluators ready to be subclassed, one class a file."""

from scoregate.testing.evaluators.assertions import Assertions, BaseAssertions
from scoregate.testing.evaluators.has_all_substrings import BaseHasAllSubstrings, HasAllSubstrings
from scoregate.testing.evaluators.is_equals import BaseIsEquals, IsEquals
from scoregate.testing.evaluators.is_valid_json import BaseIsValidJSON, IsValidJSON

__all__ = [
    "Assertions",
    "BaseAssertions",
    "BaseHasAllSubstrings",
    "BaseIsEquals",
    "BaseIsValidJSON",
    "HasAllSubstrings",
    "IsEquals",
    "IsValidJSON",
]
