"""scoregate's own suite: a wrapped client in the target, a model that grades in the evaluator."""

import time
from dataclasses import dataclass
from typing import Literal

from load import CASES, CONCURRENCY, tell
from models_load import MODEL, grading, question
from openai import AsyncOpenAI
from pydantic import BaseModel

from scoregate.models import get_model, wrap
from scoregate.testing.models import BaseTestCase, BaseTestEvaluator, Evaluation
from scoregate.testing.run import run_test_suite

client = wrap(AsyncOpenAI())
model = get_model(MODEL)


class Grade(BaseModel):
    """What the judge says."""

    reason: str
    choice: Literal["A", "B"]


@dataclass
class TestCase(BaseTestCase):
    """One input."""

    number: int

    def hash(self) -> str:
        """Return the number: it is unique here."""
        return str(self.number)


class Judge(BaseTestEvaluator[TestCase, str]):
    """One call of a model, answered with an object."""

    id = "judge"
    max_concurrency = CONCURRENCY

    async def evaluate_test_case(self, test_case: TestCase, output: str) -> Evaluation:
        """Score 1 where the model chooses A."""
        found = await model.a_generate(grading(test_case.number, output), schema=Grade, temperature=0)
        return Evaluation(score=float(found.parsed.choice == "A"), metadata={"reason": found.parsed.reason})


async def target(test_case: TestCase) -> str:
    """Return what the model says."""
    answer = await client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": question(test_case.number)}], temperature=0
    )
    return answer.choices[0].message.content or ""


test_cases = [TestCase(number) for number in range(CASES)]
started = time.perf_counter()
result = run_test_suite(
    id="bench",
    test_cases=test_cases,
    fn=target,
    evaluators=[Judge()],
    max_test_case_concurrency=CONCURRENCY,
)
seconds = time.perf_counter() - started
assert not result.errors
tell(seconds, result.evaluations)
