"""`scoregate list` shows what would run, and runs nothing."""

from __future__ import annotations

import venv

from tests.integration.host.conftest import Project, suite


def test_it_lists_suites_and_reasons_without_a_run(project: Project) -> None:
    project.write("evals/demo.py", "open('ran', 'w')\n" + suite())
    project.write("evals/notes.py", "print('nothing')\n")
    outcome = project.scoregate("list")
    assert outcome.exit_code == 0
    assert "evals/demo.py" in outcome.output
    assert "demo" in outcome.output
    assert "evals/notes.py" not in outcome.output
    assert "1 skipped: `scoregate list -v` lists them with the reasons\n" in outcome.output
    assert "skipped evals/notes.py: starts no suite of scoregate\n" in project.scoregate("list", "-v").output
    assert not (project.root / "ran").exists()


def test_without_suites_it_suggests_init(project: Project) -> None:
    outcome = project.scoregate("list")
    assert outcome.exit_code == 3
    assert "scoregate init" in outcome.output


def test_commands_run_in_the_environment_that_it_announces(project: Project) -> None:
    venv.create(project.root / ".venv", with_pip=False)
    project.write(
        "scoregate.toml", '[[commands]]\nname = "own"\nrun = ["python", "-c", "import sys; print(sys.prefix)"]\n'
    )
    assert f"Python: {project.root}/.venv/bin/python" in project.scoregate("list").output
    assert f"| {project.root}/.venv" in project.scoregate("run", "--baseline", "none").output
