"""Is the output JSON?"""

from __future__ import annotations

import abc
import json
from typing import Any, Generic

from scoregate.core.evaluation import Evaluation, Threshold
from scoregate.testing.models import BaseTestEvaluator, OutputType, TestCaseType


class BaseIsValidJSON(BaseTestEvaluator[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if the output is valid JSON (RFC 8259: no NaN, no Infinity), else 0. Passes at 1."""

    version = 1

    @abc.abstractmethod
    def output_mapper(self, output: OutputType) -> str:
        """The text to check."""

    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> Evaluation:  # noqa: ARG002
        """Parse; where that fails, the metadata has the error."""
        error = _error_in(self.output_mapper(output))
        return Evaluation(
            score=0.0 if error else 1.0, threshold=Threshold(gte=1), metadata={"error": error} if error else None
        )


def _error_in(text: str) -> str | None:
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, TypeError, RecursionError) as error:
        return str(error) or type(error).__name__
    return None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


IsValidJSON = BaseIsValidJSON
