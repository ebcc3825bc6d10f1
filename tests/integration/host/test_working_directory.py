"""A project that is not the whole repository: its settings, suites and paths count from its own folder."""

from __future__ import annotations

import sys

import pytest
from tests.integration.host.conftest import Project, Ran, suite


@pytest.fixture
def monorepo(project: Project) -> Project:
    project.write("scoregate.toml", "no_such_setting = 1\n")
    for name, bad in (("one", 0), ("two", 1)):
        project.write(f"apps/{name}/evals/demo.py", suite("import helper", bad=bad))
        project.write(f"apps/{name}/helper.py", "")
        project.write(f"apps/{name}/scoregate.toml", f"min_pass_rate = {0.5 if bad else 1}\n")
    project.commit()
    return project


def run_of(project: Project, name: str) -> Ran:
    return Ran(0, "", project.root / "apps" / name / "scoregate-out")


@pytest.mark.parametrize("variable", ["SCOREGATE_WORKING_DIRECTORY", "INPUT_WORKING-DIRECTORY", None])
def test_projects_are_separate(monorepo: Project, variable: str | None) -> None:
    for name, statuses in (("one", {"passed": 3}), ("two", {"passed": 3, "failed": 1})):
        flags = () if variable else ("--working-directory", f"apps/{name}")
        environment = {variable: f"apps/{name}"} if variable else {}
        outcome = monorepo.scoregate("run", *flags, **environment)
        assert outcome.exit_code == 0, outcome.output
        assert run_of(monorepo, name).statuses == statuses
    assert not (monorepo.root / "scoregate-out").exists()


def test_relative_paths_are_its_own(monorepo: Project) -> None:
    arguments = ("--working-directory", "apps/two", "--out", "here", "evals/demo.py")
    assert monorepo.scoregate("list", *arguments[:2], arguments[-1]).exit_code == 0
    assert monorepo.scoregate("run", *arguments).exit_code == 0
    assert (monorepo.root / "apps" / "two" / "here" / "result.json").is_file()


def test_the_base_is_run_in_the_same_folder(monorepo: Project) -> None:
    outcome = monorepo.scoregate("run", "--working-directory", "apps/two", "--baseline", "rerun:HEAD")
    assert outcome.exit_code == 0, outcome.output
    assert run_of(monorepo, "two").result["base"] is not None


def test_a_missing_folder_is_refused(monorepo: Project) -> None:
    outcome = monorepo.scoregate("run", "--working-directory", "apps/three")
    assert outcome.exit_code == 2
    assert "--working-directory: there is no folder 'apps/three'" in outcome.output


def test_it_cannot_be_in_its_own_file(monorepo: Project) -> None:
    monorepo.write("apps/one/scoregate.toml", "working_directory = 'apps/two'\n")
    outcome = monorepo.scoregate("run", "--working-directory", "apps/one")
    assert outcome.exit_code == 2
    assert "scoregate.toml:1: working_directory can't be set in the file that it locates" in outcome.output


def test_the_action_passes_it_by_inputs(monorepo: Project) -> None:
    inputs = {"INPUT_WORKING-DIRECTORY": "apps/two", "INPUT_MIN-PASS-RATE": "0.9", "INPUT_COMMAND": ""}
    outcome = monorepo.scoregate("action", **inputs)
    assert outcome.exit_code == 1, outcome.output
    assert "INPUT_MIN-PASS-RATE" in str(run_of(monorepo, "two").result)
    assert monorepo.scoregate("action", INPUT_COMMAND="delete").exit_code == 2
    assert "action" not in monorepo.scoregate("--help").output


def test_a_command_in_another_folder_has_its_folder_as_pwd(project: Project) -> None:
    """Some programs ask PWD before the system."""
    project.write("evals/demo.py", suite())
    project.write(
        "web/pwd.py", "import os\nopen('pwd.txt', 'w').write(repr([os.environ.get(n) for n in ('PWD', 'OLDPWD')]))\n"
    )
    project.write("scoregate.toml", f'[[commands]]\nname = "web"\ncwd = "web"\nrun = ["{sys.executable}", "pwd.py"]\n')
    project.scoregate("run", "--baseline", "none", PWD=str(project.root), OLDPWD="/")
    assert (project.root / "web/pwd.txt").read_text(encoding="utf-8") == repr([str(project.root / "web"), None])
