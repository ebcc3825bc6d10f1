"""--quiet, --verbose and --json: what each prints, and where, for every command that has them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.integration.host.conftest import Project, suite
from tests.integration.terminal.conftest import run_with_pipes

NOISE = "print('noise of the script')\n"
RAISES = "def fn(case):\n    if case.input == 'good 0':\n        raise RuntimeError('no answer')\n    return case.input"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with a run of one failing case."""
    project = Project(tmp_path_factory.mktemp("finished"))
    project.write("evals/demo.py", suite(bad=1))
    assert run_with_pipes(project, "run", "-q").returncode == 1
    return project


def output_lines(ran: subprocess.CompletedProcess[bytes]) -> list[str]:
    return ran.stdout.decode().splitlines()


def test_quiet_prints_one_line_if_green(project: Project) -> None:
    project.write("evals/demo.py", suite(NOISE))
    outcome = run_with_pipes(project, "run", "-q")
    assert (outcome.returncode, outcome.stderr) == (0, b"")
    (line,) = output_lines(outcome)
    assert line.startswith("✓ scoregate: ")


def test_quiet_shows_failures_and_their_reasons(project: Project) -> None:
    project.write("evals/demo.py", suite(NOISE + RAISES, fn="fn", bad=1))
    outcome = run_with_pipes(project, "run", "--quiet", "--min-pass-rate", "1")
    assert outcome.returncode == 1
    text = "\n".join(output_lines(outcome))
    assert "noise" not in text
    assert "▸" not in text
    assert "✗ bad 0  demo" in output_lines(outcome)
    assert "is-equals  0  needs ≥ 1  expected_output: something else; actual_output: bad 0" in text
    assert '! demo: RuntimeError: no answer (in "' in text
    assert "✗ Pass rate of demo" in text
    assert output_lines(outcome)[-1].startswith("✗ scoregate: ")
    assert "Reports" not in text


def test_verbose_shows_everything(project: Project) -> None:
    project.write("evals/demo.py", suite(RAISES, fn="fn", good=2, bad=12))
    outcome = run_with_pipes(project, "run", "-v")
    lines = output_lines(outcome)
    assert any(line.startswith("found evals/demo.py:") and "in evals/" in line for line in lines)
    assert any(line.startswith("Python: ") for line in lines)
    assert any(line.startswith("no baseline: there is no previous complete run") for line in lines)
    assert any(line.startswith("  ✗ demo · bad 11  is-equals 0 (needs ≥ 1)  ") for line in lines)
    assert any(line.startswith("  ! demo · good 0  RuntimeError: no answer") for line in lines)
    assert [f"✗ bad {number}  demo" in lines for number in range(12)] == [True] * 12
    assert "    first in good 0:" in lines
    assert any("raise RuntimeError('no answer')" in line for line in lines)


def test_quiet_and_verbose_are_exclusive(project: Project) -> None:
    outcome = run_with_pipes(project, "run", "-q", "-v")
    assert (outcome.returncode, outcome.stdout) == (2, b"")
    assert b"--quiet and --verbose exclude each other" in outcome.stderr


@pytest.mark.parametrize("bad", [0, 1])
@pytest.mark.parametrize("job", [{}, {"GITHUB_ACTIONS": "true"}], ids=["here", "in a job"])
def test_json_is_all_of_standard_output(project: Project, bad: int, job: dict[str, str]) -> None:
    project.write("evals/demo.py", suite(NOISE, bad=bad))
    outcome = run_with_pipes(project, "run", "--json", **job)
    assert outcome.returncode == bad
    assert outcome.stdout == (project.root / "scoregate-out" / "result.json").read_bytes()
    assert b"noise of the script" in outcome.stderr
    assert b"scoregate: " in outcome.stderr.splitlines()[-2]


def test_report_prints_the_same_json(project: Project) -> None:
    project.write("evals/demo.py", suite(bad=1))
    outcome = run_with_pipes(project, "run", "--json", "--baseline", "none")
    reported = run_with_pipes(project, "report", "scoregate-out/run", "--format", "json")
    ours, theirs = json.loads(outcome.stdout), json.loads(reported.stdout)
    notices = {"base_note": "", "notices": []}  # the reason for the missing base, which differs
    assert {**ours, **notices} == {**theirs, **notices}
    assert run_with_pipes(project, "report", "scoregate-out/run", "--json").stdout == reported.stdout


def test_quiet_json_prints_nothing_else(project: Project) -> None:
    project.write("evals/demo.py", suite(NOISE, bad=1))
    outcome = run_with_pipes(project, "run", "--json", "-q")
    assert (outcome.returncode, outcome.stderr) == (1, b"")
    assert json.loads(outcome.stdout)["exit_code"] == 1


@pytest.mark.parametrize("job", [{}, {"GITHUB_ACTIONS": "true"}], ids=["here", "in a job"])
def test_stderr_shows_an_invalid_setting(project: Project, job: dict[str, str]) -> None:
    project.write("scoregate.toml", "min_pass_rate = 7\n")
    outcome = run_with_pipes(project, "run", "--json", "-q", **job)
    assert (outcome.returncode, outcome.stdout) == (2, b"")
    assert b"min_pass_rate" in outcome.stderr


def test_exec_has_the_same_options(project: Project) -> None:
    project.write("demo.py", suite(NOISE))
    outcome = run_with_pipes(project, "exec", "--json", "-q", "--", sys.executable, "demo.py", "--json", "-v")
    assert (outcome.returncode, outcome.stderr) == (0, b"")
    assert json.loads(outcome.stdout)["totals"]["passed"] == 3
    (line,) = output_lines(run_with_pipes(project, "exec", "-q", "--", sys.executable, "demo.py"))
    assert line.startswith("✓ scoregate: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("gate", "scoregate-out/run"),
        ("compare", "scoregate-out/run", "--baseline", "scoregate-out/run"),
        ("merge", "scoregate-out/run", "--out", "merged"),
        ("report", "scoregate-out/run"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_finished_runs_use_the_options(finished: Project, arguments: tuple[str, ...]) -> None:
    plain, quiet, verbose, result = (
        run_with_pipes(finished, *arguments, *flags) for flags in ((), ("-q",), ("-v",), ("--json",))
    )
    assert len({each.returncode for each in (plain, quiet, verbose, result)}) == 1
    assert "✗ bad 0" in quiet.stdout.decode()
    assert len(quiet.stdout) < len(plain.stdout) <= len(verbose.stdout)
    assert json.loads(result.stdout)["totals"]["failed"] == 1


def test_a_rerun_of_the_base_is_shown(project: Project) -> None:
    project.write("evals/demo.py", suite())
    project.commit()
    lines = output_lines(run_with_pipes(project, "run", "-v", "--baseline", "rerun:HEAD"))
    assert any(line.startswith("baseline: ") for line in lines)


def test_a_report_has_one_format(project: Project) -> None:
    outcome = run_with_pipes(project, "report", "scoregate-out/run", "--json", "--format", "html")
    assert (outcome.returncode, outcome.stdout) == (2, b"")
