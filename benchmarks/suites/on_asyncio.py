"""The floor: fifty workers of bare asyncio that pull cases from one iterator and keep the scores in a list."""

import asyncio
import time
from collections.abc import Iterator

from load import CASES, CONCURRENCY, PAUSE_SECONDS, tell


async def target(case: str) -> str:
    """Return the case as its own output, after the pause asked for."""
    if PAUSE_SECONDS:
        await asyncio.sleep(PAUSE_SECONDS)
    return case


async def first(case: str, output: str) -> float:
    """Score 1 where the output is the case."""
    return float(output == case)


async def second(case: str, output: str) -> float:
    """Score 1 where the output is the case."""
    return float(output == case)


async def worker(cases: Iterator[str], scores: list[float]) -> None:
    """Take cases until there are none."""
    for case in cases:
        output = await target(case)
        scores += [await first(case, output), await second(case, output)]


async def main() -> list[float]:
    """Run every case and return two scores a case."""
    scores: list[float] = []
    cases = iter([f"case {number}" for number in range(CASES)])
    await asyncio.gather(*(worker(cases, scores) for _ in range(CONCURRENCY)))
    return scores


started = time.perf_counter()
collected = asyncio.run(main())
tell(time.perf_counter() - started, len(collected))
