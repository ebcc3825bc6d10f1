"""The same suite on braintrust's Eval, no logs sent; its progress bar goes to a file."""
# mypy: disable-error-code="import-not-found"

import asyncio
import time

from braintrust import Eval
from load import CASES, CONCURRENCY, PAUSE_SECONDS, SYNC_SCORERS, tell


async def first(output: str, expected: str) -> float:
    """Score 1 where the output is the one expected."""
    return float(output == expected)


async def second(output: str, expected: str) -> float:
    """Score 1 where the output is the one expected."""
    return float(output == expected)


def first_sync(output: str, expected: str) -> float:
    """Score 1 where the output is the one expected."""
    return float(output == expected)


def second_sync(output: str, expected: str) -> float:
    """Score 1 where the output is the one expected."""
    return float(output == expected)


async def target(case: str) -> str:
    """Return the case as the output, after the pause asked for."""
    if PAUSE_SECONDS:
        await asyncio.sleep(PAUSE_SECONDS)
    return case


data = [{"input": f"case {number}", "expected": f"case {number}"} for number in range(CASES)]
started = time.perf_counter()
result = Eval(
    "bench",
    data=data,
    task=target,
    scores=[first_sync, second_sync] if SYNC_SCORERS else [first, second],
    max_concurrency=CONCURRENCY,
    no_send_logs=True,
)
seconds = time.perf_counter() - started
tell(seconds, sum(len(case.scores) for case in result.results if case.error is None))
