"""The protocol of executors: one class that knows only this protocol is enough for another cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType

import pytest
from tests.integration.host.conftest import Project

from scoregate.features.cluster import executors
from scoregate.features.cluster.call_relay import CallRelay, open_call_relay
from scoregate.features.cluster.declare import ExecutorKind
from scoregate.features.cluster.executor import ClusterOptions, Part, PartLost
from scoregate.features.cluster.rate_limits import CallLeases
from scoregate.features.cluster.source_tree import SourceTree
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.launch import EmitEvent, Host, launch_all
from scoregate.models.shared_limiter import LIMITS_VARIABLE

SUITE = """
import os
from scoregate import evaluate
from scoregate.models.shared_limiter import SharedLimiter, find_limiter

def answer(input):
    limiter = find_limiter("address", "model")
    assert isinstance(limiter, SharedLimiter)
    limiter.release(limiter.acquire().result(30))
    return input

evaluate("NAME", data=[{"input": n} for n in range(10)], task=answer, scorers=[lambda output: output != 3])
"""


class ProcessCluster:
    """Two workers that are processes of this machine. The first part is lost once."""

    is_local = True

    def __init__(self, options: ClusterOptions) -> None:
        self._options = options
        self.parts: list[tuple[int, str]] = []

    async def list_workers(self) -> Mapping[str, int]:
        return MappingProxyType({"one": 1, "two": 1})

    async def prepare(self, worker: str, tree: SourceTree) -> None:
        pass

    async def run_part(self, part: Part, worker: str, tree: SourceTree, settings: Settings, emit: EmitEvent) -> None:
        self.parts.append((part.number, worker))
        assert self._options.limits is not None
        leases = CallLeases(self._options.limits, lambda *permit: relay.deliver([permit]))

        def receive(lines: list[tuple[int, bytes]]) -> None:
            for connection, line in lines:
                leases.receive(connection, line)

        redact = Redactor(())
        relay: CallRelay
        with open_call_relay(receive) as relay:
            environ = {**self._options.environ, LIMITS_VARIABLE: relay.path}
            host = Host(tree.root, environ, redact, timeout_s=settings.timeout)
            await launch_all(part.launches, host, emit)
        leases.close()
        if part.number == 1 and sum(number == 1 for number, _ in self.parts) == 1:
            raise PartLost("the machine was taken away")


def test_an_executor_of_one_class_gives_the_verdict_of_one_machine(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams: list[ProcessCluster] = []

    @asynccontextmanager
    async def open_processes(options: ClusterOptions, _scratch: Path) -> AsyncIterator[ProcessCluster]:
        streams.append(ProcessCluster(options))
        yield streams[0]

    monkeypatch.setitem(executors._CLUSTERS, ExecutorKind.DASK, lambda: open_processes)
    for name in ("a", "b", "c"):
        project.write(f"evals/eval_{name}.py", SUITE.replace("NAME", name))
    outcome = project.scoregate("run", "--executor", "dask", "--baseline", "none")
    assert outcome.exit_code == 1, outcome.output
    assert [(suite["statuses"]["passed"], suite["statuses"]["failed"]) for suite in outcome.run["suites"]] == [
        (9, 1)
    ] * 3
    assert "1 attempt of parts ended early: the machine was taken away" in outcome.output
    assert sorted(number for number, _ in streams[0].parts) == [1, 1, 2, 3]
    assert len({worker for number, worker in streams[0].parts if number == 1}) == 2
