"""Suites with judges, as short as they can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.fakes.openai import OpenAIServer

from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.testing.evaluators import (
    BaseAccuracy,
    BaseCustomLLMJudge,
    BaseLLMJudge,
    BaseNSFW,
    BaseToxicity,
)
from scoregate.testing.models import BaseTestCase, ScoreChoice
from scoregate.testing.run import run_test_suite


@dataclass
class Case(BaseTestCase):
    input: str
    expected_output: str = "the expected"

    def hash(self) -> str:
        return self.input


class Accuracy(BaseAccuracy[Case, str]):
    id = "accuracy"

    def output_mapper(self, output: str) -> str:
        return output


class NSFW(BaseNSFW[Case, str]):
    id = "nsfw"

    def output_mapper(self, output: str) -> str:
        return output


class Toxicity(BaseToxicity[Case, str]):
    id = "toxicity"

    def output_mapper(self, output: str) -> str:
        return output


class Custom(BaseCustomLLMJudge[Case, str]):
    id = "custom"

    def output_mapper(self, output: str) -> str:
        return output


class Own(BaseLLMJudge[Case, str]):
    id = "own"
    score_choices = (ScoreChoice(1, "Yes"), ScoreChoice(0.25, "Hardly"), ScoreChoice(0, "No"))

    def make_prompt(self, test_case: Case, output: str, recent_overrides: list[Any]) -> str:
        return f"Is {output!r} an answer to {test_case.input!r}? ({len(recent_overrides)} corrections)"


JUDGES = (Accuracy, NSFW, Toxicity, Custom, Own)


def run(evaluators: Iterable[Any], *, outputs: Mapping[str, Any] | None = None, **options: Any) -> SuiteResult:
    """Run a suite called `demo` on cases of these names, giving these outputs."""
    values = outputs or {"a": "an output"}
    cases = [Case(name) for name in values]
    return run_test_suite("demo", cases, lambda case: values[case.input], evaluators, **options)


def only_case(result: SuiteResult) -> CaseResult:
    """The one case of a result."""
    (case,) = result.cases
    return case


def prompts(server: OpenAIServer) -> list[str]:
    """The texts of users' messages, request by request."""
    return [body["messages"][1]["content"] for body in server.asked()]
