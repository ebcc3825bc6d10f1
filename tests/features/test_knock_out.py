"""A feature can be taken away: without its folder and its line, the kernel judges other runs as before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.features.knocked_out import ALL

from scoregate.features.table import FEATURES

NAMES = tuple(feature.name for feature in FEATURES)
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """The exit code and the output of each judgement, by the feature that it lacks."""
    folder = tmp_path_factory.mktemp("knocked-out")
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.features.knocked_out", *NAMES]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return {name: (code, output) for name, (code, output) in json.loads(done.stdout).items()}


@pytest.mark.parametrize("name", [*NAMES, ALL])
def test_the_kernel_judges_as_before_without(outcomes: dict[str, tuple[int, str]], name: str) -> None:
    assert outcomes[name] == (0, "judged\n")
