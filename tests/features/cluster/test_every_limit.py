"""Every limit on every executor: the run ends, whatever the calls that the limit refuses wait for."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from tests.fakes.openai.limits import Bucket
from tests.fakes.openai.server import OpenAIServer
from tests.features.cluster.cluster import Cluster
from tests.integration.host.conftest import Project

pytest.importorskip("distributed", reason="needs scoregate[dask]")

SUITES, CASES, BURST = 2, 60, 10
SUITE = """
import time
from scoregate import evaluate
from scoregate.models import get_model

model = get_model("openai/gpt-4o")

async def answer(input):
    if HANGS:
        time.sleep(3600)
    return (await model.a_generate(f"NAME {input}")).text

def is_there(output):
    return bool(output)

evaluate("NAME", data=[{"input": n} for n in range(CASES)], task=answer, scorers=[is_there], concurrency=8)
"""
# The limit, the exit code, and what the report says. A busy machine stops scripts later than at their limit.
LIMITS = {
    "max_cost": (("--max-cost", "0.006"), 3, "the budget is spent"),
    "max_tokens": (("--max-tokens", "600"), 3, "the budget is spent"),
    "timeout": (("--timeout", "3"), 3, r"was stopped after \d+ s"),
    "rate limit": ((), 0, ""),
}


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    """A model that reports its limit: each answer says how many of ten calls are left, which the limiter keeps to."""
    bucket = Bucket(6_000, burst=BURST, is_empty=False)
    with OpenAIServer(bucket=bucket, latency=0.02) as running:
        yield running


@pytest.fixture(scope="module")
def cluster(server: OpenAIServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    started = Cluster(tmp_path_factory.mktemp("cluster"))
    for _ in range(SUITES):
        started.add_worker(**server.environment)
    started.wait_for_workers(SUITES)
    yield started
    started.close()


# The gateway of a cluster is that of the host, so two limits stand for all of them.
RUNS = [
    (executor, gateway, limit)
    for executor in ("local", "dask")
    for gateway in ("off", "on")
    for limit in LIMITS
    if executor == "local" or gateway == "off" or limit in ("max_cost", "rate limit")
]


@pytest.mark.parametrize(("executor", "gateway", "limit"), RUNS)
def test_a_run_at_its_limit_ends(
    project: Project, server: OpenAIServer, cluster: Cluster, executor: str, gateway: str, limit: str
) -> None:
    words, exit_code, message = LIMITS[limit]
    for number in range(SUITES):
        text = SUITE.replace("NAME", f"suite {number}").replace("CASES", str(CASES))
        project.write(f"evals/eval_{number}.py", text.replace("HANGS", str(limit == "timeout")))
    project.write("scoregate.toml", '[prices]\n"*" = { input = 10.0, output = 10.0 }\n')
    if executor == "dask":
        words = (*words, "--executor", "dask", "--scheduler", cluster.address)
    asked = len(server.requests)
    arguments = ("--gateway", gateway, "--max-suites", str(SUITES), "--baseline", "none", "--cache", "off")
    outcome = project.scoregate("run", *arguments, *words, **server.environment)  # it fails if this takes minutes
    assert outcome.exit_code == exit_code, outcome.output
    assert re.search(message, " ".join(outcome.output.split())), outcome.output
    if message == "the budget is spent":
        # So many calls were refused that the bucket of the server would not hold them.
        assert SUITES * CASES - (len(server.requests) - asked) > 2 * BURST
        assert sum(sum(suite["statuses"].values()) for suite in outcome.run["suites"]) == SUITES * CASES
