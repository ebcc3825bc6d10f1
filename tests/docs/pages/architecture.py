"""The gate of the page about the architecture, as a feature of scoregate, in a run of a suite."""

from __future__ import annotations

import sys

from tests.docs.project import Project

_SUITE = """
from scoregate import evaluate
from scoregate.scorers import equals

evaluate("bot", data=[{"input": "a", "expected": "a"}], task=lambda input: input, scorers=[equals()])
"""
# The folder of the page in the package, and the line in the table, before the settings are imported.
_ADD = """
import sys
import scoregate.features

scoregate.features.__path__.append("features")
from scoregate.features import table
from scoregate.features.slow_cases.declare import FEATURE

table.FEATURES = (*table.FEATURES, FEATURE)
from scoregate.cli.entry import main

main()
"""


def finish(project: Project) -> None:
    project.write("eval_bot.py", _SUITE)
    for most, exit_code, line in (("0", 1, "Slow cases in bot"), ("60000", 0, "")):
        project.environment["SCOREGATE_MAX_CASE_MS"] = most
        done = project.run([sys.executable, "-c", _ADD, "run", "eval_bot.py"])
        assert done.returncode == exit_code, done.stdout + done.stderr
        assert line in done.stdout + done.stderr
