"""Judge stored runs with the command line, and collect everything that it prints and writes.

What would differ between two runs is fixed here and nowhere else: the clock and ids (`_fixed_time`), the environment
(`_ENVIRON`), and texts (`_normalise`).
"""

from __future__ import annotations

import contextlib
import difflib
import gzip
import hashlib
import itertools
import json
import os
import re
import sqlite3
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from unittest import mock

from tests.cli import run_cli
from tests.golden.archive import World, unpack_project
from tests.golden.github_job import open_job

# The runs of most worlds ended some seconds before.
_NOW = 1_760_007_200.0
_ENVIRON = {"TZ": "UTC", "COLUMNS": "120", "NO_COLOR": "1", "GIT_CEILING_DIRECTORIES": "/tmp"}
# Python reads these when it starts; with other values a command would need a process of its own.
_INHERITED = ("PATH", "LC_ALL", "LC_CTYPE", "PYTHONIOENCODING", "PYTHONPATH", "PYTHONUTF8")
_VERSION = version("scoregate")
_EXIT_CODES = (0, 1, 3)
_LONGEST_BLOCK = 2_000


def judge_world(world: World) -> dict[str, str]:
    """Run the commands of a world and return its outputs, by name.

    Raises:
        AssertionError: a command ended with another code than those of a verdict, or with a traceback.
    """
    # All names are as long, so that lines are wrapped at the same words.
    with tempfile.TemporaryDirectory(prefix="golden-", dir="/tmp") as top:
        project = Path(top) / "project"
        unpack_project(world, project)
        before = _read_files(project)
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        environ = {**inherited, "HOME": f"{top}/home", **_ENVIRON, **world.environ}
        outputs: dict[str, str] = {}
        with open_job(world, Path(top) / "job") as job, _fixed_time(world.now or _NOW):
            environ |= job
            for number, command in enumerate(world.commands, 1):
                done = run_cli(*command, cwd=project, environ=environ)
                assert done.returncode in _EXIT_CODES, f"{command} ended with {done.returncode}: {done.stderr}"
                assert "Traceback (most recent call last)" not in done.stderr, done.stderr
                label = f"{number} {' '.join(command)}"
                outputs |= {f"{label}: exit": f"{done.returncode}\n", f"{label}: stdout": done.stdout}
                outputs[f"{label}: stderr"] = done.stderr
        known = {line for path, content in before.items() for line in _to_text(path, content)}
        written = _read_files(Path(top), "job") | _read_files(project)
        for path, content in written.items():
            if before.get(path) != content and path != "job/event.json":
                outputs[path] = _without_known(path, _to_text(path, content), known)
        return {name: _normalise(text, top) for name, text in outputs.items() if text}


def _read_files(folder: Path, below: str = ".") -> dict[str, bytes]:
    files = (path for path in sorted((folder / below).rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _to_text(path: str, content: bytes) -> list[str]:
    """The lines of a file: of a compressed one its text, of a database its rows."""
    if path.endswith(".sqlite"):
        return list(_dump_rows(content))
    content = gzip.decompress(content) if path.endswith(".gz") else content
    return content.decode(errors="backslashreplace").splitlines(keepends=True)


def _dump_rows(content: bytes) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as file:
        Path(file.name).write_bytes(content)
        with contextlib.closing(sqlite3.connect(file.name)) as connection:
            yield from (f"{line}\n" for line in connection.iterdump() if line.startswith("INSERT"))


def _without_known(path: str, lines: list[str], known: set[str]) -> str:
    """The text of a file; of cases, those that a file of the world had already are only counted."""
    if not path.endswith(".jsonl.gz"):
        return "".join(lines)
    new = [line for line in lines if line not in known]
    return f"{len(lines) - len(new)} lines as before\n{''.join(new)}"


def _normalise(text: str, top: str) -> str:
    text = text.replace(top, "/tmp/golden").replace(f'"version": "{_VERSION}"', '"version": "VERSION"')
    text = re.sub(r"\bscoregate_[0-9a-f]{32}\b", "DELIMITER", text)  # of the outputs of a job
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text.replace(f"scoregate {_VERSION}", "scoregate VERSION"))
    return re.sub(r"(?s)(<style>|<script[^>]*>)(.*?)(?=</style>|</script>)", _digest_block, text)


def _digest_block(found: re.Match[str]) -> str:
    """A long style sheet or program of a page as its digest."""
    digest = hashlib.blake2b(found[2].encode(), digest_size=8).hexdigest()
    return found[0] if len(found[2]) < _LONGEST_BLOCK else f"{found[1]}{digest}"


@contextlib.contextmanager
def _fixed_time(now: float) -> Iterator[None]:
    """The clock stands still, and ids are numbers."""
    numbers = itertools.count(1)

    def read_time() -> float:
        return now

    def read_nanoseconds() -> int:
        return int(now * 1e9)

    def make_id() -> uuid.UUID:
        return uuid.UUID(int=next(numbers))

    with (
        mock.patch.object(time, "time", read_time),
        mock.patch.object(time, "time_ns", read_nanoseconds),
        mock.patch.object(uuid, "uuid4", make_id),
    ):
        yield


def _order_record(name: str, text: str) -> str:
    """The text of a `run.json` with its keys in order, without keys of the run that are null or an empty list."""
    if not name.endswith("run.json") or not text:
        return text
    known = {key: value for key, value in json.loads(text).items() if value not in (None, [])}
    return json.dumps(known, indent=2, sort_keys=True)


def _round_numbers(text: str) -> str:
    """The text with ten digits of each number: from Python 3.12 on, `sum` rounds less."""
    return re.sub(r"\d+\.\d{10,}(?:e[-+]?\d+)?", lambda found: str(float(f"{float(found[0]):.10g}")), text)


def describe_differences(expected: Mapping[str, str], found: Mapping[str, str]) -> str:
    """A unified diff of each output that differs; empty if none does."""
    parts = []
    for name in sorted({*expected, *found}):
        before, after = (_order_record(name, each.get(name, "")) for each in (expected, found))
        if before != after and (before := _round_numbers(before)) != (after := _round_numbers(after)):
            lines = before.splitlines(), after.splitlines()
            parts += difflib.unified_diff(*lines, f"expected {name}", f"found {name}", lineterm="", n=2)
    return "\n".join(parts)
