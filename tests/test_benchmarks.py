"""The benchmarks that run in this environment start, and measure what they should."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.parametrize("script", ["calibration.py", "compare_speed.py", "mutants.py", "redact_speed.py"])
def test_it_starts(script: str) -> None:
    process = subprocess.run(
        [sys.executable, str(BENCHMARKS / script), "--help"], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    assert "--check" in process.stdout


def test_mutants_of_a_module_are_killed_by_its_tests_and_change_no_file() -> None:
    module = BENCHMARKS.parent / "src/scoregate/kernel/types/backoff.py"
    source = module.read_bytes()
    # Two of these six have no test that fails.
    sample = ["--sample", "6", "--seed", "21"]
    arguments = [str(module), "--tests", "tests/unit/kernel/test_backoff.py", "--check", "1", *sample]
    process = subprocess.run(
        [sys.executable, str(BENCHMARKS / "mutants.py"), *arguments], capture_output=True, text=True, check=False
    )
    assert process.returncode == 1, process.stderr
    survivors = [line for line in process.stdout.splitlines() if line.startswith("survived")]
    # No delay that a test expects is as long, and without a header there is no date to read.
    path = "src/scoregate/kernel/types/backoff.py"
    assert sorted(survivors) == [
        f"survived: {path}:38 retry_after_s: if text is None: → if False:",
        f"survived: {path}:9 (module): 60 → 59",
    ]
    assert "6 of 35 mutants" in process.stdout
    assert "killed: 4" in process.stdout
    assert "score: 0.667" in process.stdout
    assert module.read_bytes() == source


SOURCE = '''
import os
__all__ = ["f", "g"]
TABLE: dict[str, int] = {"a": 1, "b": 2}
def f(x: int | None = 3) -> bool:
    """Text."""
    if x is None or x > 4:
        raise ValueError(f"{x + 1}")
    return not x
async def g(rows):
    for row in (each for each in rows if each):
        yield max(row - 1, 2000)
'''


def test_mutations_of_a_module() -> None:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        mutations = importlib.import_module("mutations")
    finally:
        sys.path.remove(str(BENCHMARKS))
    found = mutations.find_mutations(SOURCE)
    assert [(each.line, each.function, each.on_import, each.change) for each in found] == [
        (4, "", True, "entry 'a' → dropped"),
        (4, "", True, "entry 'b' → dropped"),
        (4, "", True, "1 → 2"),
        (4, "", True, "1 → 0"),
        (4, "", True, "2 → 3"),
        (4, "", True, "2 → 1"),
        (5, "f", True, "3 → 4"),
        (5, "f", True, "3 → 2"),
        (7, "f", False, "if x is None or x > 4: → if True:"),
        (7, "f", False, "if x is None or x > 4: → if False:"),
        (7, "f", False, "x is None or x > 4 → x is None and x > 4"),
        (7, "f", False, "x is None or x > 4 → x > 4"),
        (7, "f", False, "x is None or x > 4 → x is None"),
        (7, "f", False, "x > 4 → x >= 4"),
        (7, "f", False, "4 → 5"),
        (7, "f", False, "4 → 3"),
        (8, "f", False, "raise ValueError(f'{x + 1}') → dropped"),
        (9, "f", False, "return not x → return None"),
        (9, "f", False, "not x → x"),
        (11, "g", False, "for each in rows if each → for each in rows"),
        (12, "g", False, "yield max(row - 1, 2000) → if False:"),
        (12, "g", False, "max(row - 1, 2000) → min(row - 1, 2000)"),
        (12, "g", False, "row - 1 → row + 1"),
        (12, "g", False, "1 → 2"),
        (12, "g", False, "1 → 0"),
    ]
    for each in found:
        changed = mutations.mutate(SOURCE, each.number)
        compile(changed, "module", "exec")
        assert ast.unparse(changed) != ast.unparse(ast.parse(SOURCE))
