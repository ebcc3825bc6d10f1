"""The edit loop: from saving a file to the first result of 20 instant cases under `scoregate run --watch`."""

import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Failed
from peers import tool
from rows import Row

SAVES = 5
TARGET_S = 0.4
LIMIT_S = 30
SUITE = """
from scoregate import evaluate
from scoregate.scorers import contains

data = [{"id": str(number), "input": "When?", "expected": "9"} for number in range(20)]
evaluate("opening-hours", data=data, task=lambda input: "At 9.", scorers=[contains()])
"""
NAME, WAITING = b"opening-hours", b"Waiting for changes"


class _Watch:
    """A watch in a terminal."""

    def __init__(self, folder: Path) -> None:
        self._ours, theirs = pty.openpty()
        kept = {name: value for name, value in os.environ.items() if name not in {"CI", "PYTHONDONTWRITEBYTECODE"}}
        self.process = subprocess.Popen(
            [tool("scoregate-watch", "scoregate"), "run", "--watch"],
            cwd=folder,
            env={**kept, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def wait_for(self, text: bytes) -> float:
        """The moment at which a text is on the screen."""
        seen, end = b"", time.perf_counter() + LIMIT_S
        while text not in seen:
            if time.perf_counter() > end or self.process.poll() is not None:
                raise Failed(f"the watch never printed {text.decode()}:\n{seen.decode(errors='replace')}")
            if select.select([self._ours], [], [], 0.1)[0]:
                seen += os.read(self._ours, 1 << 16)
        return time.perf_counter()

    def drain(self) -> None:
        """Read what is left of a run."""
        while select.select([self._ours], [], [], 0.5)[0]:
            os.read(self._ours, 1 << 16)

    def close(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(LIMIT_S)
        os.close(self._ours)


def _measure_saves(saves: int) -> list[float]:
    with TemporaryDirectory() as name:
        suite = Path(name, "evals", "support.py")
        suite.parent.mkdir()
        suite.write_text(SUITE)
        subprocess.run(["git", "init", "--quiet", name], check=True)
        watch = _Watch(Path(name))
        watch.wait_for(WAITING)
        durations = []
        for number in range(saves):
            watch.drain()
            time.sleep(1)
            started = time.perf_counter()
            suite.write_text(f"{SUITE}# {number}\n")
            durations.append(watch.wait_for(NAME) - started)
        watch.close()
    return sorted(durations)


def measure(runs: int) -> Iterator[Row]:
    """Yield the median of five times as many saves as asked: these are short."""
    durations = _measure_saves(runs * SAVES)
    note = f"{durations[0]:.2f} s to {durations[-1]:.2f} s; the suite imports only scoregate"
    yield Row("watch, from saving a file to the first result", durations[len(durations) // 2], "s", TARGET_S, note)
