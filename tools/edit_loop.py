"""The picture of the edit loop: a failing run, the failing case alone, and a watch that shows the correction."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

COLUMNS = 124
_DROPPED = ("SCOREGATE_", "GITHUB_", "CI", "NO_COLOR", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE")
_WAITING = "Waiting for changes"
BOT = """
HOURS = {"monday": "We open at 9.", "saturday": "We open at 10.", "sunday": "We open at 9."}


def answer(input):
    return next(text for day, text in HOURS.items() if day in input.lower())
"""
SUITE = """
from bot import answer
from scoregate import evaluate
from scoregate.scorers import contains

evaluate(
    "opening-hours",
    data=[
        {"input": "When do you open on Monday?", "expected": "9"},
        {"input": "And on Saturday?", "expected": "10"},
        {"input": "What about Sunday?", "expected": "closed"},
    ],
    task=answer,
    scorers=[contains()],
)
"""


def edit_loop(picture: Path) -> None:
    """A terminal with the session."""
    with tempfile.TemporaryDirectory(prefix="scoregate-pictures-") as name:
        folder = Path(name)
        (folder / "evals").mkdir()
        (folder / "bot.py").write_text(BOT, encoding="utf-8")
        (folder / "evals" / "support.py").write_text(SUITE, encoding="utf-8")
        subprocess.run(["git", "init", "--quiet", "--initial-branch=main", folder], check=True)
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            console = Console(record=True, width=COLUMNS + 2, file=nowhere)
            for line in _record_session(folder):
                console.print(Text.from_ansi(line))
    picture.write_text(console.export_svg(title="scoregate", theme=MONOKAI, unique_id="edit-loop"), encoding="utf-8")


def _record_session(folder: Path) -> Iterator[str]:
    yield from _show_command("scoregate run")
    yield from _shorten(_run(folder, "run").splitlines())
    yield from ("", *_show_command("scoregate run --last-failed"))
    yield from _shorten(_run(folder, "run", "--last-failed").splitlines(), verdict_only=True)
    yield from ("", *_show_command("scoregate run --watch"))
    first, second = _watch(folder)
    yield from _shorten(first, verdict_only=True)
    yield "\x1b[2m  ⋮  bot.py is corrected and saved\x1b[0m"
    yield from _shorten(second)


def _show_command(command: str) -> Iterator[str]:
    yield f"\x1b[1;32m$\x1b[0m \x1b[1m{command}\x1b[0m"


def _shorten(lines: list[str], *, verdict_only: bool = False) -> Iterator[str]:
    """The lines without paths of reports; `verdict_only`: also without tables and failing cases."""
    for line in lines:
        plain = Text.from_ansi(line).plain
        is_kept = plain.startswith(("▸", "✗ scoregate", "✓ scoregate", "note: Only", _WAITING))
        if plain.startswith(("Reports:", "note: The run has", "note: Not compared")) or (verdict_only and not is_kept):
            continue
        yield line


def _start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_DROPPED)}
    environment = {**kept, "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1"}
    command = [sys.executable, "-m", "scoregate", *arguments]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)


def _run(folder: Path, *arguments: str) -> str:
    with _start(folder, *arguments) as process:
        return process.communicate()[0]


def _watch(folder: Path) -> tuple[list[str], list[str]]:
    """The lines of the first run of a watch, and of the run after a correction."""
    runs: list[list[str]] = [[], []]
    bot = folder / "bot.py"
    with _start(folder, "run", "--watch") as process:
        assert process.stdout is not None
        for lines in runs:
            for line in process.stdout:
                lines.append(line.rstrip("\n"))
                if _WAITING in line:
                    break
            text = re.sub(r'"sunday": ".*?"', '"sunday": "We are closed."', bot.read_text(encoding="utf-8"))
            bot.write_text(text, encoding="utf-8")
        process.send_signal(signal.SIGINT)
    return runs[0], runs[1]
