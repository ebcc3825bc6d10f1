"""What is written where no terminal is: pipes, logs, files, and readers that leave."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.integration.host.conftest import Project, suite
from tests.integration.terminal.conftest import plain_environment, run_with_pipes


@pytest.mark.parametrize("forced", [{"FORCE_COLOR": "1"}, {"FORCE_COLOR": "1", "GITHUB_ACTIONS": "true"}], ids=str)
def test_forced_colours_animate_no_log(project: Project, forced: dict[str, str]) -> None:
    project.write("evals/demo.py", suite(bad=1))
    outcome = run_with_pipes(project, "run", **forced)
    assert outcome.returncode == 1
    assert b"\x1b[1;31m" in outcome.stdout
    for moves in (b"\x1b[?25", b"\x1b[2K", b"\x1b[1A"):
        assert moves not in outcome.stdout


@pytest.mark.parametrize(("columns", "width"), [("70", 70), ("", 120), ("many", 120), ("4", 20)])
def test_a_log_has_the_set_width(project: Project, columns: str, width: int) -> None:
    project.write("evals/demo.py", suite(bad=1))
    outcome = run_with_pipes(project, "run", COLUMNS=columns)
    lines = outcome.stdout.decode().splitlines()
    report = lines[next(index for index, line in enumerate(lines) if line.startswith("  demo: 4 cases")) + 1 :]
    assert min(width, 80) - 12 < max(map(len, report)) <= width
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("flags", [(), ("-v",), ("--json",)], ids=str)
def test_a_closed_pipe_changes_no_verdict(project: Project, flags: tuple[str, ...]) -> None:
    noise = "for _ in range(3000):\n    print('x' * 100)\n"
    project.write("evals/demo.py", suite(noise, bad=1))
    arguments = [sys.executable, "-m", "scoregate", "run", *flags]
    log_file = project.root / "told.txt"
    with (
        log_file.open("wb") as complaints,
        subprocess.Popen(
            arguments, cwd=project.root, env=plain_environment(), stdout=subprocess.PIPE, stderr=complaints
        ) as process,
    ):
        assert process.stdout is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.wait(120) == 1
    assert "Broken" not in log_file.read_text()
    assert "Traceback" not in log_file.read_text()
    assert (project.root / "scoregate-out" / "result.json").is_file()


def test_an_ascii_locale_replaces_the_marks(project: Project) -> None:
    project.write("evals/demo.py", suite())
    outcome = run_with_pipes(project, "run", PYTHONIOENCODING="ascii")
    assert outcome.returncode == 0, outcome.stderr
    assert b"? scoregate: " in outcome.stdout
    outcome = run_with_pipes(project, "run", "--json", "-m", "für dich", PYTHONIOENCODING="ascii")
    assert "für dich" in outcome.stdout.decode("utf-8")


def test_a_closed_standard_error_changes_no_verdict(project: Project) -> None:
    project.write("evals/demo.py", suite(bad=1))
    ours, theirs = os.pipe()
    os.close(ours)
    process = subprocess.run(
        [sys.executable, "-m", "scoregate", "run", "--json"],
        cwd=project.root, env=plain_environment(), stdout=subprocess.PIPE, stderr=theirs, timeout=120, check=False,
    )  # fmt: skip
    os.close(theirs)
    assert process.returncode == 1
    assert process.stdout.startswith(b"{")
