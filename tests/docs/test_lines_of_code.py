"""docs/migrate/lines_of_code.md: its table has the numbers of lines, and our suites are the shorter ones."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.docs.page import read_blocks
from tests.docs.project import ROOT

PAGE = ROOT / "docs" / "migrate" / "lines_of_code.md"
PAIRS = (
    ("theirs/capital.py", "evals/eval_capital.py"),
    ("theirs/eval_example.py", "evals/eval_population.py"),
    ("theirs/test_chatbot.py", "evals/eval_chatbot.py"),
)


def count_lines(source: str) -> int:
    """The lines with code."""
    return sum(1 for line in source.splitlines() if line.strip() and not line.strip().startswith("#"))


def format_source(source: str) -> str:
    """The same source as ruff formats it, without regard to trailing commas."""
    ruff = str(Path(sys.executable).with_name("ruff"))
    options = ("--isolated", "--line-length", "100", "--config", "format.skip-magic-trailing-comma=true")
    command = [ruff, "format", *options, "--stdin-filename", "example.py", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def test_the_table_has_the_numbers_of_lines() -> None:
    sources = {block.path: block.content for block in read_blocks(PAGE)}
    assert set(sources) == {path for pair in PAIRS for path in pair}
    counted = []
    for pair in PAIRS:
        theirs, ours = (sources[path] for path in pair)
        for path, source in zip(pair, (theirs, ours), strict=True):
            compile(source, path, "exec")
        written = [count_lines(theirs), count_lines(ours)]
        formatted = [count_lines(format_source(each)) for each in (theirs, ours)]
        assert written[1] <= written[0], pair
        assert formatted[1] <= formatted[0], pair
        counted.append([*written, *formatted])
    rows = re.findall(
        r"^\| \[.*\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert [[int(each) for each in row] for row in rows] == counted
