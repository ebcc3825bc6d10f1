"""Evaluators without a model."""

from __future__ import annotations

import abc
import json
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Generic

from scoregate.kernel.types.evaluation import Assertion, Evaluation, Threshold
from scoregate.testing.models import BaseTestEvaluator, MaybeAwaitable, OutputType, TestCaseType


class BaseAssertions(BaseTestEvaluator[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if every required assertion holds, else 0; the others are only shown. Passes at 1."""

    version = 1

    @abc.abstractmethod
    def evaluate_assertions(
        self, test_case: TestCaseType, output: OutputType
    ) -> Sequence[Assertion] | Awaitable[Sequence[Assertion] | None] | None:
        """Check the criteria; sync or async.

        Returns:
            The assertions; None or an empty list if the case has no criteria, and then there is no evaluation.
        """

    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> MaybeAwaitable:
        """An `Evaluation` with the assertions, or an awaitable of it."""
        assertions = self.evaluate_assertions(test_case, output)
        if not isinstance(assertions, Awaitable):
            return _to_evaluation(assertions)

        async def evaluate() -> Evaluation | None:
            return _to_evaluation(await assertions)

        return evaluate()


def _to_evaluation(assertions: Sequence[Assertion] | None) -> Evaluation | None:
    if not assertions:
        return None
    held = all(assertion.passed for assertion in assertions if assertion.required)
    return Evaluation(score=1.0 if held else 0.0, threshold=Threshold(gte=1), assertions=tuple(assertions))


Assertions = BaseAssertions


class BaseHasAllSubstrings(BaseTestEvaluator[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if all expected substrings are in the output (case counts), else 0. Passes at 1."""

    version = 1

    @abc.abstractmethod
    def test_case_mapper(self, test_case: TestCaseType) -> list[str]:
        """The substrings that the test case expects."""

    @abc.abstractmethod
    def output_mapper(self, output: OutputType) -> str:
        """The text to search."""

    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> Evaluation:
        """Search for each; the metadata lists the missing ones."""
        text = self.output_mapper(output)
        missing = [expected for expected in self.test_case_mapper(test_case) if expected not in text]
        return Evaluation(
            score=0.0 if missing else 1.0, threshold=Threshold(gte=1), metadata={"missing_substrings": missing}
        )


HasAllSubstrings = BaseHasAllSubstrings


class BaseIsEquals(BaseTestEvaluator[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if the expected output equals the actual one, else 0. Passes at 1."""

    version = 1

    @abc.abstractmethod
    def test_case_mapper(self, test_case: TestCaseType) -> str:
        """The output that the test case expects."""

    @abc.abstractmethod
    def output_mapper(self, output: OutputType) -> str:
        """The output to compare."""

    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> Evaluation:
        """Compare; if they differ, the metadata contains both."""
        expected, actual = self.test_case_mapper(test_case), self.output_mapper(output)
        equal = expected == actual
        return Evaluation(
            score=1.0 if equal else 0.0,
            threshold=Threshold(gte=1),
            metadata=None if equal else {"expected_output": expected, "actual_output": actual},
        )


IsEquals = BaseIsEquals


class BaseIsValidJSON(BaseTestEvaluator[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores 1 if the output is valid JSON (RFC 8259: no NaN, no Infinity), else 0. Passes at 1."""

    version = 1

    @abc.abstractmethod
    def output_mapper(self, output: OutputType) -> str:
        """The text to check."""

    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> Evaluation:  # noqa: ARG002
        """Parse; if that fails, the metadata contains the error."""

        def reject(constant: str) -> Any:
            raise ValueError(f"{constant} is not JSON")

        text = self.output_mapper(output)
        try:
            json.loads(text, parse_constant=reject)
        except (ValueError, TypeError, RecursionError) as error:
            message = str(error) or type(error).__name__
            return Evaluation(score=0.0, threshold=Threshold(gte=1), metadata={"error": message})
        return Evaluation(score=1.0, threshold=Threshold(gte=1))


IsValidJSON = BaseIsValidJSON


def string_field(test_case: Any, name: str) -> str | None:
    """The string in a field or key with that name; None if there is none."""
    value = test_case.get(name) if isinstance(test_case, Mapping) else getattr(test_case, name, None)
    return value if isinstance(value, str) else None
