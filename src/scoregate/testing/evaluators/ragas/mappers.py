"""What the metrics of ragas look at, and how it is found in a test case and an output."""

from __future__ import annotations

import abc
from collections.abc import Awaitable
from typing import Generic

from scoregate.testing.models import OutputType, TestCaseType

# A field of ragas' sample, and of what its mapper is told.
FIELDS = {
    "user_input": ("test_case", "output"),
    "response": ("output",),
    "reference": ("test_case",),
    "retrieved_contexts": ("test_case", "output"),
    "reference_contexts": ("test_case",),
}


class MapsUserInput(abc.ABC, Generic[TestCaseType, OutputType]):
    """An evaluator that looks at what was asked."""

    @abc.abstractmethod
    def user_input_mapper(self, test_case: TestCaseType, output: OutputType) -> str | Awaitable[str]:
        """The question; sync or async."""


class MapsResponse(abc.ABC, Generic[OutputType]):
    """An evaluator that looks at what was answered."""

    @abc.abstractmethod
    def response_mapper(self, output: OutputType) -> str | Awaitable[str]:
        """The answer; sync or async."""


class MapsReference(abc.ABC, Generic[TestCaseType]):
    """An evaluator that knows what should have been answered."""

    @abc.abstractmethod
    def reference_mapper(self, test_case: TestCaseType) -> str | Awaitable[str]:
        """The answer that is right; sync or async."""


class MapsRetrievedContexts(abc.ABC, Generic[TestCaseType, OutputType]):
    """An evaluator that looks at what was found for the answer."""

    @abc.abstractmethod
    def retrieved_contexts_mapper(
        self, test_case: TestCaseType, output: OutputType
    ) -> list[str] | Awaitable[list[str]]:
        """The texts that were retrieved, the best first; sync or async."""


class MapsReferenceContexts(abc.ABC, Generic[TestCaseType]):
    """An evaluator that knows what should have been found."""

    @abc.abstractmethod
    def reference_contexts_mapper(self, test_case: TestCaseType) -> list[str] | Awaitable[list[str]]:
        """The texts that should have been retrieved; sync or async."""


class MapsAllButResponse(
    MapsUserInput[TestCaseType, OutputType],
    MapsReference[TestCaseType],
    MapsRetrievedContexts[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """An evaluator that holds what was found against the right answer, whatever was answered."""
