"""The same suite on pydantic-evals: its LLMJudge, progress bar off, nothing written to disk."""
# mypy: disable-error-code="import-not-found,misc,untyped-decorator"

import time

from load import CASES, CONCURRENCY, tell
from models_load import CRITERIA, MODEL, question
from openai import AsyncOpenAI
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import LLMJudge

client = AsyncOpenAI(max_retries=0)


async def target(asked: str) -> str:
    """Return what the model says."""
    answer = await client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": asked}], temperature=0
    )
    return answer.choices[0].message.content or ""


dataset = Dataset(
    name="bench",
    cases=[Case(name=f"case {number}", inputs=question(number)) for number in range(CASES)],
    evaluators=[LLMJudge(rubric=CRITERIA, model=OpenAIChatModel(MODEL), include_input=True)],
)
started = time.perf_counter()
report = dataset.evaluate_sync(target, max_concurrency=CONCURRENCY, progress=False)
seconds = time.perf_counter() - started
tell(seconds, sum(len(case.assertions) for case in report.cases))
