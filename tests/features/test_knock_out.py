"""A feature can be taken away: without its folder and its line, the kernel judges other runs as before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.features.knocked_out import copy_without

from scoregate.features.table import FEATURES

NAMES = tuple(feature.name for feature in FEATURES)
# The kernel, and worlds that use no feature.
PACKAGES, WORLDS = "scoregate.kernel", "better,changed_judge,errors,no_base"
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("names", [*((name,) for name in NAMES), NAMES], ids="+".join)
def test_the_kernel_judges_as_before_without(names: tuple[str, ...], tmp_path: Path) -> None:
    copy_without(names, tmp_path / "src")
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "tests.features.knocked_out", PACKAGES, WORLDS]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{tmp_path / 'src'}\n", "")
