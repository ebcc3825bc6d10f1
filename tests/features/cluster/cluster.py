"""A cluster of Dask: a real scheduler and real workers, each a process on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
from tests.integration.host.conftest import clean_environment
from tests.waiting import wait_until

LIMIT_S = 120


def runs_suite(worker: subprocess.Popen[bytes]) -> bool:
    """Whether a worker runs a suite at the moment."""
    try:
        children = psutil.Process(worker.pid).children(recursive=True)
        return any("eval_" in word for child in children for word in child.cmdline())
    except psutil.Error:
        return False


class Cluster:
    """A scheduler, and workers of one thread without a nanny, so that a killed worker stays away."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        self._started = 0
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")

    def _start(self, command: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        with (self._folder / f"{command}-{self._started}.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", command, "--scheduler-file", str(self._file), *arguments],
                cwd=self._folder,
                env={**clean_environment(), "PYTHONPATH": os.pathsep.join(sys.path), **environment},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def address(self) -> str:
        # Dask creates it before it writes it.
        wait_until(lambda: self._file.exists() and self._file.stat().st_size > 0, LIMIT_S)
        return json.loads(self._file.read_text(encoding="utf-8"))["address"]

    def add_worker(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        self._started += 1
        local = self._folder / f"worker-{self._started}"
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0", "--host", "127.0.0.1")
        worker = self._start("worker", *options, "--local-directory", str(local), *arguments, **environment)
        self.workers.append(worker)
        return worker

    def wait_for_workers(self, number: int) -> None:
        """Wait until the scheduler knows so many workers."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            wait_until(lambda: len(client.nthreads()) >= number, LIMIT_S)

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
        for process in (*self.workers, self.scheduler):
            process.wait()
