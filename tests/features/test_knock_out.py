"""Features can be taken away: without their folders and their lines, the kernel judges other runs as before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scoregate.features.table import FEATURES

ROOT = Path(__file__).parents[2]
NAMES = {feature.name for feature in FEATURES}
# Each run has what they measure, and so has its document. The commands of these worlds need others.
MEASURED = {"costs", "decline", "slices"}
NEEDED = {"drift", "history"}
# Worlds that use no other feature.
WORLDS = "better,changed_judge,errors,no_base"


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, str]]:
    """The exit codes and outputs without all features, without those measured, and without the others."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    groups = [(NAMES, ""), (MEASURED, "better"), (NAMES - MEASURED - NEEDED, WORLDS)]
    words = [f"{'+'.join(sorted(names))}={worlds}" for names, worlds in groups]
    command = [sys.executable, "-m", "tests.features.knocked_out", *words]
    cwd = tmp_path_factory.mktemp("knocked-out")
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [(code, output) for code, output in json.loads(done.stdout)]


def test_the_kernel_imports_no_feature(outcomes: list[tuple[int, str]]) -> None:
    assert outcomes[0] == (0, "judged\n")


def test_runs_are_judged_without_what_features_measure(outcomes: list[tuple[int, str]]) -> None:
    code, output = outcomes[1]
    assert (code, output.splitlines()[-1]) == (0, "judged"), output


def test_the_kernel_judges_as_before_without_other_features(outcomes: list[tuple[int, str]]) -> None:
    assert outcomes[2] == (0, "judged\n")
