"""The benchmarks that run in this environment start, and find in the package what they measure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.parametrize("script", ["calibration.py", "compare_speed.py", "redact_speed.py"])
def test_it_starts(script: str) -> None:
    process = subprocess.run(
        [sys.executable, str(BENCHMARKS / script), "--help"], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    assert "--check" in process.stdout
