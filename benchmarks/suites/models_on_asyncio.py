"""The floor: fifty bare workers over one AsyncOpenAI client; each case is one call and one that grades it."""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

from load import CASES, CONCURRENCY, tell
from models_load import GRADE_SCHEMA, MODEL, grading, question
from openai import AsyncOpenAI


async def ask(client: AsyncOpenAI, text: str, **more: Any) -> str:
    """Return what the model says to a text."""
    answer = await client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": text}], temperature=0, **more
    )
    return answer.choices[0].message.content or ""


async def worker(client: AsyncOpenAI, cases: Iterator[int], scores: list[float]) -> None:
    """Take cases until there are none."""
    form = {"type": "json_schema", "json_schema": {"name": "Grade", "schema": GRADE_SCHEMA, "strict": True}}
    for case in cases:
        output = await ask(client, question(case))
        grade = json.loads(await ask(client, grading(case, output), response_format=form))
        scores.append(float(grade["choice"] == "A"))


async def main() -> list[float]:
    """Run every case and return a score a case."""
    scores: list[float] = []
    cases = iter(range(CASES))
    async with AsyncOpenAI(max_retries=0) as client:
        await asyncio.gather(*(worker(client, cases, scores) for _ in range(CONCURRENCY)))
    return scores


started = time.perf_counter()
collected = asyncio.run(main())
tell(time.perf_counter() - started, len(collected))
