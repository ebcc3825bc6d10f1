"""The command without its extra: the SDK alone is installed."""

from __future__ import annotations

import subprocess
import sys

WITHOUT = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name in ("click", "rich") else find(name)
from scoregate.cli.entry import main
main()
"""


def test_missing_packages_are_named() -> None:
    process = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert process.returncode == 2
    assert process.stderr == "error: the command line needs click, rich\nRun: pip install 'scoregate[cli]'\n"
