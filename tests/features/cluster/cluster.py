"""A cluster of Dask: a real scheduler and real workers, each a process on loopback."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import psutil
from tests import warm_scripts
from tests.integration.host.conftest import clean_environment
from tests.waiting import wait_until

LIMIT_S = 120
# What the process of a worker or scheduler is forked from has imported.
_DASK = ("dask.cli", "distributed.cli.dask_scheduler", "distributed.cli.dask_worker")
_SUITES = str(Path(__file__).with_name("warm_suites.py"))


class Cluster:
    """A scheduler, and workers of one thread without a nanny, so that a killed worker stays away."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"
        self.workers: list[psutil.Process] = []
        self._folders: dict[psutil.Process, Path] = {}
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")

    def _start(self, command: str, *arguments: str, **environment: str) -> psutil.Process:
        words = [sys.executable, "-m", "dask", command, "--scheduler-file", str(self._file), *arguments]
        options: dict[str, Any] = {"cwd": str(self._folder), "env": {**clean_environment(), **environment}}
        with (self._folder / f"{command}-{len(self._folders)}.log").open("wb") as log:
            if not hasattr(os, "pidfd_open"):
                return psutil.Popen(words, stdout=log, stderr=log, start_new_session=True, **options)
            server = warm_scripts.server(*_DASK)
            start = partial(server.start, errors=log.fileno(), suites=warm_scripts.server())
            return psutil.Process(anyio.run(start, words, *options.values()).pid)

    @property
    def address(self) -> str:
        # Dask creates it before it writes it.
        wait_until(lambda: self._file.exists() and self._file.stat().st_size > 0, LIMIT_S)
        return json.loads(self._file.read_text(encoding="utf-8"))["address"]

    def add_worker(self, *arguments: str, **environment: str) -> psutil.Process:
        """Start a worker, whose suites are forked as those of commands are."""
        local = self._folder / f"worker-{len(self._folders)}"
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0", "--host", "127.0.0.1")
        options = (*options, "--local-directory", str(local), "--preload", _SUITES)
        worker = self._start("worker", *options, *arguments, **environment)
        self._folders[worker] = local
        self.workers.append(worker)
        return worker

    def runs_suite(self, worker: psutil.Process) -> bool:
        """Whether a worker runs a suite at the moment."""
        server = warm_scripts.server().process
        parents = (worker, *([] if server is None else [psutil.Process(server.pid)]))
        children = (child for parent in parents for child in parent.children(recursive=True))
        return any(_is_below(self._folders[worker], child) for child in children)

    def wait_for_workers(self, number: int) -> None:
        """Wait until the scheduler knows so many workers."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            wait_until(lambda: len(client.nthreads()) >= number, LIMIT_S)

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            with suppress(psutil.NoSuchProcess):
                process.kill()
                process.wait()


def _is_below(folder: Path, process: psutil.Process) -> bool:
    try:
        return Path(process.cwd()).is_relative_to(folder)
    except psutil.Error:
        return False
