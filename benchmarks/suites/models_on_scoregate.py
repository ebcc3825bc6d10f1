"""scoregate's own suite: a wrapped client in the target, and scoregate's judge with criteria."""

import time
from dataclasses import dataclass

from load import CASES, CONCURRENCY, tell
from models_load import CRITERIA, MODEL, question
from openai import AsyncOpenAI

from scoregate.models import wrap
from scoregate.testing.evaluators import BaseCustomLLMJudge
from scoregate.testing.models import BaseTestCase
from scoregate.testing.run import run_test_suite

client = wrap(AsyncOpenAI())


@dataclass
class TestCase(BaseTestCase):
    """One input."""

    number: int

    def hash(self) -> str:
        """Return the number: it is unique here."""
        return str(self.number)


class Judge(BaseCustomLLMJudge[TestCase, str]):
    """A model grades question and answer."""

    id = "judge"
    model = MODEL
    criteria = CRITERIA
    max_concurrency = CONCURRENCY

    def input_mapper(self, test_case: TestCase) -> str:
        """Return what was asked."""
        return question(test_case.number)

    def output_mapper(self, output: str) -> str:
        """Return what was answered."""
        return output


async def target(test_case: TestCase) -> str:
    """Return what the model says."""
    answer = await client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": question(test_case.number)}], temperature=0
    )
    content: str | None = answer.choices[0].message.content
    return content or ""


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
