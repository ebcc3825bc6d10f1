"""Evals of the support bot: real questions, the facts an answer must mention, and what a colleague would write."""

import json
from dataclasses import dataclass
from pathlib import Path

from bot import UNKNOWN, Bot, load_faq, load_settings
from rapidfuzz import fuzz, utils

from scoregate.testing.evaluators import BaseHasAllSubstrings
from scoregate.testing.models import BaseTestCase, BaseTestEvaluator, Evaluation, Threshold
from scoregate.testing.run import run_test_suite

CASES = Path(__file__).parent / "cases.jsonl"


@dataclass
class TestCase(BaseTestCase):
    """A question; without a reference it is one that the FAQ does not cover."""

    name: str
    question: str
    must_mention: list[str]
    reference: str | None

    def hash(self) -> str:
        return self.name


class HasAllSubstrings(BaseHasAllSubstrings[TestCase, str]):
    """Whether the answer mentions every fact the customer needs."""

    id = "has-all-substrings"

    def test_case_mapper(self, test_case: TestCase) -> list[str]:
        return test_case.must_mention

    def output_mapper(self, output: str) -> str:
        return output


class ResemblesReference(BaseTestEvaluator[TestCase, str]):
    """How much of the reference's wording the answer shares: 1 is all of it, unrelated texts reach about 0.4."""

    id = "resembles-reference"

    def evaluate_test_case(self, test_case: TestCase, output: str) -> Evaluation | None:
        if test_case.reference is None:
            return None
        similarity = fuzz.token_set_ratio(output, test_case.reference, processor=utils.default_process)
        return Evaluation(
            score=similarity / 100,
            threshold=Threshold(gte=0.8),
            metadata={"reference": test_case.reference},
        )


class AdmitsIgnorance(BaseTestEvaluator[TestCase, str]):
    """Whether the bot says that it does not know, where the FAQ has no answer."""

    id = "admits-ignorance"

    def evaluate_test_case(self, test_case: TestCase, output: str) -> Evaluation | None:
        if test_case.reference is not None:
            return None
        return Evaluation(
            score=1 if output == UNKNOWN else 0,
            threshold=Threshold(gte=1),
            metadata={"question": test_case.question},
        )


def load_cases() -> list[TestCase]:
    """One case a line."""
    return [TestCase(**json.loads(line)) for line in CASES.read_text(encoding="utf-8").splitlines()]


bot = Bot(load_faq(), load_settings())

run_test_suite(
    id="support-bot",
    test_cases=load_cases(),
    fn=lambda test_case: bot.answer(test_case.question),
    evaluators=[HasAllSubstrings(), ResemblesReference(), AdmitsIgnorance()],
    max_test_case_concurrency=10,
)
