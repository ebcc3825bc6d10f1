"""A script that executes a test set by itself ends with 3, if nothing was scored."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
from scoregate.entities import Endpoint, Prompt, Test, TestSet
from scoregate.metrics import metric

@metric("ok", "binary")
def ok(input, output): return {"score": True}

endpoint = Endpoint(id="bot", name="bot", connection_type="SDK", function="FUNCTION")
tests = [Test(category="a", behavior="b", prompt=Prompt(content="c"))]
TestSet(id="hours", name="Hours", tests=tests).execute(endpoint, metrics=[ok])
"""


@pytest.mark.parametrize(("function", "code"), [("builtins:ascii", 0), ("builtins:int", 3)])
def test_the_exit_code_says_whether_anything_was_scored(tmp_path: Path, function: str, code: int) -> None:
    (tmp_path / "script.py").write_text(SCRIPT.replace("FUNCTION", function), encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SCOREGATE_")}
    ended = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, env=kept, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == code, ended
