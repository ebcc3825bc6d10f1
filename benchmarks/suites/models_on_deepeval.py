"""The same suite on deepeval: its GEval with steps that are given, cache, display and telemetry off."""
# mypy: disable-error-code="import-not-found,misc,untyped-decorator"

import asyncio
import time

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import GEval
from deepeval.models import GPTModel
from deepeval.test_case import LLMTestCase, LLMTestCaseParams
from load import CASES, CONCURRENCY, tell
from models_load import CRITERIA, MODEL, question
from openai import AsyncOpenAI


async def worker(client: AsyncOpenAI, numbers: "list[int]", cases: "list[LLMTestCase]") -> None:
    """Take numbers until there are none: deepeval judges outputs, and leaves it to its user to get them."""
    while numbers:
        asked = question(numbers.pop())
        answer = await client.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": asked}], temperature=0
        )
        cases.append(LLMTestCase(input=asked, actual_output=answer.choices[0].message.content or ""))


async def answered() -> "list[LLMTestCase]":
    """Return every case with what the model said to it."""
    cases: list[LLMTestCase] = []
    numbers = list(range(CASES))
    async with AsyncOpenAI(max_retries=0) as client:
        await asyncio.gather(*(worker(client, numbers, cases) for _ in range(CONCURRENCY)))
    return cases


judge = GEval(
    name="judge",
    model=GPTModel(model=MODEL),
    evaluation_steps=[CRITERIA],
    evaluation_params=[LLMTestCaseParams.INPUT, LLMTestCaseParams.ACTUAL_OUTPUT],
)
started = time.perf_counter()
result = evaluate(
    asyncio.run(answered()),
    [judge],
    async_config=AsyncConfig(run_async=True, max_concurrent=CONCURRENCY, throttle_value=0),
    cache_config=CacheConfig(write_cache=False, use_cache=False),
    display_config=DisplayConfig(show_indicator=False, print_results=False),
    error_config=ErrorConfig(ignore_errors=False),
)
seconds = time.perf_counter() - started
tell(seconds, sum(len(each.metrics_data or ()) for each in result.test_results))
