"""A terminal of one's own: a real pty with a command in it, read by an emulator as a person would see it."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyte
import pytest
from tests.cli import run_cli
from tests.integration.host.conftest import Project, clean_environment, start_program

_UNSET = ("CI", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "PYTHONIOENCODING")


class Window:
    """The content of a terminal while `scoregate` runs."""

    def __init__(self, arguments: tuple[str, ...], cwd: Path, size: tuple[int, int], environ: dict[str, str]) -> None:
        self.screen = pyte.Screen(*size)
        self.raw = b""
        self._stream = pyte.ByteStream(self.screen)
        self._ours, theirs = os.openpty()
        self._tell_size()
        self.process = start_program(
            *arguments, cwd=cwd, environ=environ, stdin=theirs, output=theirs, start_new_session=True
        )
        os.close(theirs)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def wait_for(self, seen: Callable[[], bool]) -> None:
        end = time.monotonic() + 90
        while not seen():
            assert time.monotonic() < end, self.text
            self._read()

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self._tell_size()

    def finish(self) -> int:
        end = time.monotonic() + 120
        while self._read():
            assert time.monotonic() < end, self.text
        return self.process.wait(120)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._ours)

    def _tell_size(self) -> None:
        size = struct.pack("HHHH", self.screen.lines, self.screen.columns, 0, 0)
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, size)

    def _read(self) -> bool:
        """What has come meanwhile; False once the other side has closed."""
        if not select.select([self._ours], [], [], 0.05)[0]:
            return True
        try:
            some = os.read(self._ours, 65_536)
        except OSError:
            return False
        self.raw += some
        self._stream.feed(some)
        return bool(some)


Open = Callable[..., Window]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def window(project: Project) -> Iterator[Open]:
    """Opens a window with a command in it: `window("run", size=(80, 24), NO_COLOR="1")`."""
    streams: list[Window] = []

    def open_window(*arguments: str, size: tuple[int, int] = (80, 40), **environment: str) -> Window:
        environ = {**plain_environment(), "TERM": "xterm-256color", **environment}
        streams.append(Window(arguments, project.root, size, environ))
        return streams[-1]

    yield open_window
    for each in streams:
        each.close()


def plain_environment() -> dict[str, str]:
    """The environment without variables of a terminal or of the CI that runs the tests."""
    return {name: value for name, value in clean_environment().items() if name not in _UNSET}


def run_with_pipes(project: Project, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run it with standard output and error apart, neither of them a terminal."""
    outcome = run_cli(*arguments, cwd=project.root, environ={**plain_environment(), **environment})
    return subprocess.CompletedProcess(arguments, outcome.returncode, outcome.stdout.encode(), outcome.stderr.encode())
