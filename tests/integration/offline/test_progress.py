"""The progress bar on a real terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from scoregate.engine.terminal import show_progress

SCRIPT = """
import time
from scoregate.engine.terminal import show_progress

with show_progress("nightly [red]\\x1b[2J", 4, shown={shown}) as advance:
    for _ in range(4):
        time.sleep(0.3)
        advance()
print("done")
"""


def run_progress(shown: bool) -> tuple[str, str]:
    """What a script prints, and what it shows on the terminal that is its standard error."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(shown=shown)], stdout=subprocess.PIPE, stderr=theirs, env=environment
    )
    os.close(theirs)
    text = b""
    while chunk := _read(ours):
        text += chunk
    output, _ = process.communicate(timeout=180)
    os.close(ours)
    return output.decode(), text.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # so a terminal ends on Linux
        return b""


def test_it_advances_and_names_are_escaped() -> None:
    output, shown = run_progress(True)
    assert output == "done\n"
    assert "nightly (red](2J" in shown
    assert "\x1b[2J" not in shown
    assert any(part in shown for part in ("25%", "50%", "75%"))  # a busy machine may draw some of them only
    assert "100%" in shown
    assert shown.endswith("\x1b[2K"), "the line is empty afterwards"


def test_a_host_shows_its_own_progress() -> None:
    assert run_progress(False) == ("done\n", "")


def test_without_a_terminal_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress("nightly", 1, shown=True) as advance:
        advance()
    assert capsys.readouterr() == ("", "")


def test_a_run_advances_once_for_each_judge_and_row(monkeypatch: pytest.MonkeyPatch, client: object) -> None:
    messages: list[tuple[str, int]] = []
    monkeypatch.setattr(
        "scoregate.offline_tests.run.show_progress",
        lambda name, total, shown: _Counting(messages, name, total),  # noqa: ARG005
    )

    def agent(input: str) -> str:  # noqa: A002
        if "2" in input:
            raise ValueError("no")
        return input

    client.offline_tests.run("nightly-regression", agent)  # type: ignore[attr-defined]
    assert messages == [("nightly-regression", 8)] * 9


class _Counting:
    """A substitute for the bar: records its creation and every advance."""

    def __init__(self, calls: list[tuple[str, int]], name: str, total: int) -> None:
        self._tell = lambda: calls.append((name, total))
        self._tell()

    def __enter__(self) -> object:
        return self._tell

    def __exit__(self, *_: object) -> None:
        pass
