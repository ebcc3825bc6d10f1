"""Rate limits on a cluster without the gateway: all workers share them, also if one of them dies."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.fakes.openai.limits import Bucket
from tests.fakes.openai.server import OpenAIServer
from tests.features.cluster.cluster import LIMIT_S, Cluster
from tests.integration.host.conftest import Project
from tests.waiting import wait_until

from scoregate.features.cluster.rate_limits import RateLimits
from scoregate.models.rate_limit import Limiter

pytest.importorskip("distributed", reason="needs scoregate[dask]")

PER_MINUTE, SUITES, CASES, CONCURRENCY = 600, 4, 20, 6
# Each suite leaves a file when it asks, and none ends before there is a file that KILLED names.
SUITE = """
import asyncio, os
from pathlib import Path
from scoregate import evaluate
from scoregate.models import get_model

model = get_model("openai/gpt-4o")

async def answer(input):
    Path(f"{os.environ['KILLED']} NAME").touch()
    while input == CASES - 1 and not Path(os.environ["KILLED"]).exists():
        await asyncio.sleep(0.05)
    return (await model.a_generate(f"NAME {input}")).text

def is_there(output):
    return bool(output)

evaluate("NAME", data=[{"input": n} for n in range(CASES)], task=answer, scorers=[is_there],
         concurrency=CONCURRENCY)
"""


@dataclass
class TimedBucket(Bucket):
    """A bucket that keeps when it was asked, and whether it let a request pass."""

    asked: list[tuple[float, bool]] = field(default_factory=list)

    def take(self) -> bool:
        is_taken = super().take()
        self.asked.append((time.monotonic(), is_taken))
        return is_taken


@pytest.fixture
def three_workers(tmp_path: Path) -> Iterator[tuple[Cluster, TimedBucket]]:
    """A cluster whose workers ask a model that accepts 600 requests a minute."""
    bucket = TimedBucket(PER_MINUTE)
    with OpenAIServer(bucket=bucket, latency=0.05) as server:
        cluster = Cluster(tmp_path)
        for _ in range(3):
            cluster.add_worker(SCOREGATE_CACHE="off", KILLED=str(tmp_path / "killed"), **server.environment)
        cluster.wait_for_workers(3)
        yield cluster, bucket
        cluster.close()


def test_a_limit_applies_to_all_workers_after_a_kill(
    project: Project, three_workers: tuple[Cluster, TimedBucket], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, bucket = three_workers
    limiters: list[Limiter] = []
    find = RateLimits.find

    def find_recorded(limits: RateLimits, address: str, model: str) -> Limiter:
        limiters.append(find(limits, address, model))
        return limiters[-1]

    monkeypatch.setattr(RateLimits, "find", find_recorded)
    for number in range(SUITES):
        text = (
            SUITE.replace("NAME", f"suite {number}")
            .replace("CASES", str(CASES))
            .replace("CONCURRENCY", str(CONCURRENCY))
        )
        project.write(f"evals/eval_{number}.py", text)

    def kill() -> None:
        # As none ends before, three suites that ask run on three workers. Calls that are repeated count twice.
        wait_until(lambda: len(list(tmp_path.glob("killed suite *"))) == 3 and bucket.taken > 2 * CASES, LIMIT_S)
        cluster.workers[0].kill()
        (tmp_path / "killed").touch()

    killer = threading.Thread(target=kill)
    killer.start()
    arguments = ("--executor", "dask", "--scheduler", cluster.address, "--baseline", "none", "--cache", "off")
    outcome = project.scoregate("run", *arguments)
    killer.join()
    assert outcome.exit_code == 0, outcome.output
    # The host notices the end of a worker by its connection, or by a permit that it can't send.
    noticed = "1 attempt of parts ended early: (the worker ended|permits for its calls could not be sent)"
    assert re.search(noticed, outcome.output), outcome.output
    assert [sum(suite["statuses"].values()) for suite in outcome.run["suites"]] == [CASES] * SUITES
    moments = [moment for moment, _ in bucket.asked]
    limit = PER_MINUTE / 60 * (moments[-1] - moments[0])
    # The first calls of all processes start before any of them knows the limit.
    refusals = sum(not is_taken for moment, is_taken in bucket.asked if moment > moments[0] + 3)
    assert bucket.taken <= limit + bucket.burst + 1
    # On a busy machine, the calls of a worker may arrive late and all at once.
    assert refusals <= 0.05 * bucket.taken + CONCURRENCY, (refusals, bucket.refused)
    # Each call had a permit of one limiter, and those of the dead worker have returned.
    (limiter,) = set(limiters)
    assert limiter._started >= len(bucket.asked)
    assert limiter._running == 0
