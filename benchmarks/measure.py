"""Runs a command and measures it: wall and CPU seconds, and the peak RSS of it and of what it started, apart."""

import json
import os
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any, Literal, TypeVar

POLL_SECONDS = 0.01
S = TypeVar("S")


@dataclass(frozen=True)
class Sample:
    """One run of one command: seconds, megabytes (10**6 bytes) of it and of its largest descendant, what it printed."""

    wall: float
    cpu: float
    own_mb: float
    descendants_mb: float
    printed: str = ""

    @property
    def measured(self) -> dict[str, Any]:
        """Return the JSON object a suite printed as its last line."""
        measured: dict[str, Any] = json.loads(self.printed.strip().splitlines()[-1])
        return measured


class Failed(Exception):
    """A command exited with a code that was not expected, or did not do all its work."""


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return a small environment, the same for everyone: nothing of the caller's but where programs and home are."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", **extra}


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):  # it may end while we look
        for listing in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, listing.read_text().split())
    return found


def _peak_mb(pid: int) -> float:
    with suppress(OSError, IndexError):
        status = Path(f"/proc/{pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6
    return 0.0


def _look(root: int, peaks: dict[int, float]) -> None:
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        peaks[pid] = _peak_mb(pid) or peaks.get(pid, 0.0)  # before exec, a child has its parent's
        waiting += _children(pid)


@contextmanager
def _watched(root: int) -> Iterator[dict[int, float]]:
    peaks: dict[int, float] = {}
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(POLL_SECONDS):
            _look(root, peaks)

    watcher = threading.Thread(target=watch)
    watcher.start()
    yield peaks
    ended.set()
    watcher.join()


def _timed(process: subprocess.Popen[bytes], started: float) -> Sample:
    with _watched(process.pid) as peaks:
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    own = peaks.pop(process.pid, 0.0)
    return Sample(wall, usage.ru_utime + usage.ru_stime, own, max(peaks.values(), default=0.0))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def run(command: Sequence[str], *, env: Mapping[str, str], cwd: Path | None = None) -> Sample:
    """Run a command to its end and measure the whole process; it must exit 0."""
    with TemporaryFile() as out, TemporaryFile() as err, TemporaryDirectory() as empty:
        started = time.perf_counter()
        process = subprocess.Popen(command, env=environment(env), cwd=cwd or empty, stdout=out, stderr=err)
        sample = _timed(process, started)
        if process.returncode:
            raise Failed(f"{' '.join(command)} exited {process.returncode}:\n{_text(out)}\n{_text(err)}")
        return replace(sample, printed=_text(out))


def interleaved(contenders: Mapping[str, Callable[[], S]], runs: int) -> dict[str, list[S]]:
    """Run each contender in turn, `runs` times round: A B A B, so that a busy minute of the machine hits all."""
    samples: dict[str, list[S]] = {name: [] for name in contenders}
    for _ in range(runs):
        for name, contender in contenders.items():
            samples[name].append(contender())
    return samples


def median(samples: Sequence[Sample], of: Literal["wall", "cpu", "own_mb"] = "wall") -> float:
    """Return the median of one of a sample's numbers."""
    numbers: list[float] = [getattr(sample, of) for sample in samples]
    return statistics.median(numbers)
