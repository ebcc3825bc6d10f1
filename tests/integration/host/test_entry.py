"""The command without its extra: the SDK alone is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT = """
import importlib.util, sys
find, absent = importlib.util.find_spec, sys.argv.pop(1).split()
importlib.util.find_spec = lambda name: None if name in absent else find(name)
from scoregate.cli.entry import main
main()
"""


def run_without(packages: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT, packages, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_missing_packages_are_named(tmp_path: Path) -> None:
    process = run_without("click rich", cwd=tmp_path)
    assert process.returncode == 2
    assert process.stderr == "error: the command line needs click, rich\nRun: pip install 'scoregate[cli]'\n"


@pytest.mark.parametrize(
    ("arguments", "settings", "user"),
    [
        (("view",), "", "scoregate view"),
        (("exec", "--baseline", "none", "--", "true"), "", "a suite of another SDK"),
        (("run", "eval_a.py", "--baseline", "none"), "otlp_receiver = true", "otlp_receiver"),
    ],
)
def test_what_serves_a_page_or_receives_results_names_its_extra(
    tmp_path: Path, arguments: tuple[str, ...], settings: str, user: str
) -> None:
    (tmp_path / "eval_a.py").write_text("from scoregate import evaluate\nevaluate('a', data=['x'], task=str)\n")
    (tmp_path / "pyproject.toml").write_text(f"[tool.scoregate]\n{settings}\n")
    process = run_without("starlette uvicorn", *arguments, cwd=tmp_path)
    assert process.returncode == 2, process.stdout
    assert f"{user} needs starlette and uvicorn" in process.stderr
    assert "pip install 'scoregate[cli,server]'" in process.stderr


def test_a_run_of_own_suites_needs_no_server(tmp_path: Path) -> None:
    (tmp_path / "eval_a.py").write_text(
        "from scoregate import evaluate\nevaluate('a', data=['x'], task=str, scorers=[lambda output: output == 'x'])\n"
    )
    process = run_without("starlette uvicorn", "run", "eval_a.py", "--baseline", "none", cwd=tmp_path)
    assert process.returncode == 0, process.stdout + process.stderr
