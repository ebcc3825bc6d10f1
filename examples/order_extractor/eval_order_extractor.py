"""Evals of the order extractor: order confirmations, and the record a clerk would enter for each."""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extractor import extract, load_settings

from scoregate.testing.evaluators import BaseIsValidJSON
from scoregate.testing.models import BaseTestCase, BaseTestEvaluator, Evaluation, Threshold
from scoregate.testing.run import run_test_suite

CASES = Path(__file__).parent / "cases.toml"
FIELDS = ["order_number", "date", "total", "currency", "items"]


@dataclass
class TestCase(BaseTestCase):
    """An e-mail and its record; a field that the record leaves out is to be null."""

    name: str
    email: str
    expected: dict[str, Any]

    def hash(self) -> str:
        return self.name


class IsValidJSON(BaseIsValidJSON[TestCase, str]):
    """Whether the books can read the record at all."""

    id = "is-valid-json"

    def output_mapper(self, output: str) -> str:
        return output


class FieldAccuracy(BaseTestEvaluator[TestCase, str]):
    """The share of the fields that are right; a clerk can put up with one wrong in five."""

    id = "field-accuracy"

    def evaluate_test_case(self, test_case: TestCase, output: str) -> Evaluation:
        record = parse(output)
        wrong = [field for field in FIELDS if record is None or record.get(field) != test_case.expected.get(field)]
        return Evaluation(
            score=(len(FIELDS) - len(wrong)) / len(FIELDS),
            threshold=Threshold(gte=0.8),
            metadata={"wrong_fields": wrong},
        )


def parse(output: str) -> dict[str, Any] | None:
    """The record, or None when it is not JSON."""
    try:
        record: dict[str, Any] = json.loads(output)
    except ValueError:
        return None
    return record


def load_cases() -> list[TestCase]:
    """The cases in the order of the file."""
    return [TestCase(**case) for case in tomllib.loads(CASES.read_text(encoding="utf-8"))["case"]]


settings = load_settings()

run_test_suite(
    id="order-extractor",
    test_cases=load_cases(),
    fn=lambda test_case: extract(test_case.email, settings),
    evaluators=[IsValidJSON(), FieldAccuracy()],
    max_test_case_concurrency=10,
)
