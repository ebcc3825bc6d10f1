"""Tests against an endpoint: by the product, or by fifty bare workers with httpx; prints seconds."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from load import CASES, CONCURRENCY, tell

if TYPE_CHECKING:
    import httpx

URL = os.environ["BENCH_URL"]


def question(number: int) -> str:
    """What a test asks."""
    return f"How do I return order {number}?"


async def _worker(client: httpx.AsyncClient, numbers: Iterator[int], scores: list[bool]) -> None:
    for number in numbers:
        reply = await client.post(URL, json={"input": question(number)})
        reply.raise_for_status()
        scores.append(question(number) in json.loads(reply.content)["output"])


async def _bare(clients: int) -> int:
    import httpx

    scores: list[bool] = []
    limits = httpx.Limits(max_connections=CONCURRENCY, max_keepalive_connections=CONCURRENCY)
    async with AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(httpx.AsyncClient(limits=limits, timeout=30)) for _ in range(clients)]
        numbers = iter(range(CASES))
        await asyncio.gather(*(_worker(opened[n % clients], numbers, scores) for n in range(CONCURRENCY)))
    return sum(scores)


def bare() -> int:
    """Return how many answers hold what was asked; all workers share a client, as httpx's documents have it."""
    return asyncio.run(_bare(1))


def apart() -> int:
    """The same with a client for each worker, which spares httpx the search in its pool."""
    return asyncio.run(_bare(CONCURRENCY))


def ours() -> int:
    """The same of what the product has passed, its results in the store."""
    from scoregate.entities import Endpoint, Prompt, Test, TestSet, use_store
    from scoregate.enums import ConnectionType
    from scoregate.metrics import metric

    @metric("repeats", "binary")
    def repeats(input: str, output: str) -> dict[str, bool]:  # noqa: A002
        return {"score": input in output}

    tests = [Test(category="a", behavior="b", prompt=Prompt(content=question(number))) for number in range(CASES)]
    with TemporaryDirectory() as folder, use_store(folder):
        endpoint = Endpoint(name="chat", connection_type=ConnectionType.REST, url=URL, max_concurrency=CONCURRENCY)
        endpoint.push()
        test_set = TestSet(name="returns", id="returns", tests=tests)
        summary = test_set.execute(endpoint, metrics=[repeats])
    return round(float(summary["pass_rate"]) * int(summary["test_count"]))


started = time.perf_counter()
count = {"bare": bare, "apart": apart, "ours": ours}[sys.argv[1]]()
tell(time.perf_counter() - started, count)
