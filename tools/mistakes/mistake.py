"""A mistake: what a user writes and runs. Making it gives the message and the exit code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli import run_cli

import scoregate

_DROP = ("CI", "COLUMNS", "GITHUB_", "INPUT_", "OPENAI_", "SCOREGATE_", "VIRTUAL_ENV")
_MOST_LINES = 6
_PACKAGE = str(Path(scoregate.__file__).parent)
_START = re.compile(r"(?:[!✗] (?!scoregate:)|note: (?!Not compared:|Only a part)|… the complete output )\S")
_UNSTABLE = (
    # The days until a model retires change with the date.
    (re.compile(r"^note: Model \S+ (retires|was retired) on .*\n", re.MULTILINE), ""),
    (re.compile(r"\b\d+(?:\.\d+)? (ms|s)\b"), r"… \1"),
    (re.compile(r"0x[0-9a-f]+"), "0x…"),
    (re.compile(r"\bPython 3\.\d+"), "Python 3.11"),
    (re.compile(r"\bport \d+"), "port 8000"),
    (re.compile(r"\bof [0-9a-f]{7}\b"), "of 0123abc"),
    (re.compile(r"\bshallow-\d+"), "shallow"),
    (re.compile(r"\b127\.0\.0\.1:\d+"), "127.0.0.1:8000"),
    (re.compile(re.escape(sys.executable)), "python"),
    # Some versions of Python add it.
    (re.compile(r"\. Did you mean:? '[^']+'\?"), ""),
    (re.compile(r"\b[0-9a-f]{40}\b"), "0123abc"),
)

SUITE = """\
from scoregate import evaluate
from scoregate.scorers import contains


def answer(question):
    return "We are open from 9 to 17."


evaluate(
    "opening-hours",
    data=[{"input": "When do you open?", "expected": "9"}],
    task=answer,
    scorers=[contains()],
)
"""
FILE = "evals/eval_hours.py"


@dataclass(frozen=True)
class Mistake:
    """One mistake.

    Attributes:
        title: what the user does wrong, in Markdown.
        files: the files of the project, by name.
        command: what the user runs: arguments of `scoregate`, or `python` and its arguments.
        code: the exit code that is right.
        environ: further variables.
        prepare: makes what files alone can't, and yields further arguments; it is left at the end.
        in_git: whether the project is a git repository.
        run: makes the mistake in an empty folder, instead of all of the above; returns exit code and output.
    """

    title: str
    files: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ("run",)
    code: int = 3
    environ: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[Path], AbstractContextManager[tuple[str, ...]]] = lambda _: nullcontext(())
    in_git: bool = True
    run: Callable[[Path], tuple[int, str]] | None = None


@dataclass(frozen=True)
class Made:
    """What a mistake led to: the exit code, the message, and everything that was printed."""

    code: int
    message: tuple[str, ...]
    output: str


def edit(old: str, new: str, source: str = SUITE) -> dict[str, str]:
    """The files of a project whose suite is a good one with one change."""
    if old not in source:
        raise ValueError(f"the suite has no {old!r}")
    return {FILE: source.replace(old, new)}


def make(mistake: Mistake) -> Made:
    """Make a mistake in a new project."""
    with tempfile.TemporaryDirectory(prefix="scoregate-mistake-") as folder:
        root = Path(folder).resolve()
        code, output = mistake.run(root) if mistake.run else _run(mistake, root)
        output = _normalize(output, root)
    return Made(code, tuple(_find_message(output)), output)


def _run(mistake: Mistake, root: Path) -> tuple[int, str]:
    if mistake.in_git:
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=root, check=True)
    for name, text in mistake.files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with mistake.prepare(root) as more:
        return _run_command((*mistake.command, *more), mistake.environ, root)


def _run_command(command: tuple[str, ...], more: Mapping[str, str], root: Path) -> tuple[int, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_DROP)}
    environ = {**kept, "COLUMNS": "400", **more}
    if command[0] != "python":
        done = run_cli(*command, cwd=root, environ=environ, merge_stderr=True)
        return done.returncode, done.stdout
    ran = subprocess.run(
        [sys.executable, *command[1:]],
        cwd=root,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=180,
        check=False,
    )
    return ran.returncode, ran.stdout


def _normalize(output: str, root: Path) -> str:
    output = output.replace(str(root), "/home/you/bot").replace(_PACKAGE, "site-packages/scoregate")
    for pattern, text in _UNSTABLE:
        output = pattern.sub(text, output)
    return output


def _find_message(output: str) -> Iterator[str]:
    """The lines of the message: of an error, otherwise of errors, notes and findings of a run, otherwise all."""
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    if starts := [number for number, line in enumerate(lines) if line.startswith(("error:", "Error:"))]:
        yield from lines[starts[0] :][:_MOST_LINES]
        return
    found, is_inside = [], False
    for line in lines:
        is_inside = bool(_START.match(line)) or (is_inside and line.startswith("    "))
        found += [line] if is_inside else []
    yield from (found or lines)[:_MOST_LINES]
