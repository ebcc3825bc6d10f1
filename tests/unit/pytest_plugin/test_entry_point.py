"""The plug-in's cost for users without evals, and how pytest finds it."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
LIST_MODULES = (
    "import json, sys, pytest; before = set(sys.modules); import scoregate.pytest_plugin; "
    "print(json.dumps(sorted(set(sys.modules) - before)))"
)


def test_pytest_finds_it_under_the_name_of_its_module() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"scoregate.pytest_plugin": "scoregate.pytest_plugin"}


def test_it_imports_nothing_until_it_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", LIST_MODULES], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["scoregate", "scoregate.pytest_plugin", "scoregate.version"]
