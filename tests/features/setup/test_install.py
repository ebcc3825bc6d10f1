"""The real uv installs the environment of the suites from the project's requirements."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.integration.cached_environments import UV
from tests.integration.host.conftest import Project, Ran, suite
from tests.integration.host.own_wheel import installed_from_wheel

__all__ = ["installed_from_wheel"]
pytestmark = pytest.mark.usefixtures("installed_from_wheel")
WHEEL = "wheels/demo_dep-1.0-py3-none-any.whl"
TOKEN = "ghs_0123456789abcdef"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """One whose suite imports what only an installation brings."""
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root)
    (root / "wheels").mkdir()
    with zipfile.ZipFile(root / WHEEL, "w") as file:
        file.writestr("demo_dep.py", "VALUE = 'installed'\n")
        file.writestr("demo_dep-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo-dep\nVersion: 1.0\n")
        file.writestr("demo_dep-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr("demo_dep-1.0.dist-info/RECORD", "")
    project.write("evals/demo.py", suite("import demo_dep, sys\nprint('prefix', sys.prefix)"))
    return project


def pyproject(project: Project, *, source: bool = True) -> None:
    text = '[project]\nname = "app"\nversion = "0"\nrequires-python = ">=3.11"\ndependencies = ["demo-dep"]\n'
    project.write(
        "pyproject.toml", text + (f'[tool.uv.sources]\ndemo-dep = {{ path = "{WHEEL}" }}\n' if source else "")
    )


def write_lock(project: Project) -> None:
    pyproject(project)
    subprocess.run([UV, "lock", "--quiet"], cwd=project.root, check=True)


def write_requirements(project: Project) -> None:
    project.write("evals/requirements.txt", f"./{WHEEL}\n")


def check_installed_outside(ran: Ran, project: Project) -> None:
    assert ran.exit_code == 0, ran.output
    prefix = Path(next(line.split()[-1] for line in ran.output.splitlines() if "| prefix" in line))
    assert prefix.name == "venv"
    assert not prefix.is_relative_to(project.root)
    assert not prefix.exists(), "it is of no use afterwards"
    assert not list(project.root.glob("**/pyvenv.cfg"))


@pytest.mark.parametrize(("prepare", "install"), [(write_lock, "uv-sync"), (write_requirements, "requirements")])
def test_the_environment_is_created_outside_the_project(project: Project, prepare: object, install: str) -> None:
    assert callable(prepare)
    prepare(project)
    check_installed_outside(project.scoregate("run", "--install", install), project)


@pytest.mark.parametrize("prepare", [write_lock, write_requirements, pyproject])
def test_the_action_installs_the_project_files(project: Project, prepare: object) -> None:
    assert callable(prepare)
    prepare(project)
    check_installed_outside(project.scoregate("run", SCOREGATE_ACTION="1"), project)


def test_locally_nothing_is_installed(project: Project) -> None:
    project.write("evals/demo.py", suite())
    project.write("requirements.txt", "no-such-package-anywhere==1\n")
    assert project.scoregate("run").exit_code == 0


def test_a_configured_or_existing_interpreter_is_used(project: Project) -> None:
    project.write("evals/demo.py", suite())
    project.write("requirements.txt", "no-such-package-anywhere==1\n")
    assert project.scoregate("run", "--python", sys.executable, SCOREGATE_ACTION="1").exit_code == 0
    (project.root / ".venv").symlink_to(sys.prefix)
    assert project.scoregate("run", SCOREGATE_ACTION="1").exit_code == 0


def test_nothing_to_install_is_no_error(project: Project) -> None:
    project.write("evals/demo.py", suite())
    assert project.scoregate("run", SCOREGATE_ACTION="1").exit_code == 0


@pytest.mark.parametrize(("install", "sought"), [("uv-sync", "uv.lock"), ("requirements", "requirements.txt")])
def test_an_install_plan_without_files_is_refused(project: Project, install: str, sought: str) -> None:
    outcome = project.scoregate("run", SCOREGATE_INSTALL=install)
    assert outcome.exit_code == 3
    assert f"install = '{install}' (SCOREGATE_INSTALL)" in outcome.output
    assert sought in outcome.output


def test_unresolved_packages_are_reported_with_origin(project: Project) -> None:
    project.write("requirements.txt", "no-such-package-anywhere==1\n")
    project.write("scoregate.toml", 'install = "requirements"\n')
    outcome = project.scoregate("run", UV_OFFLINE="1")
    assert outcome.exit_code == 3
    for part in ("can't be made", "(scoregate.toml)", "no-such-package-anywhere", "requirements.txt", "exit code"):
        assert part in outcome.output
    assert not outcome.out.exists()


def test_an_install_command_sees_no_token(project: Project) -> None:
    command = f"uv pip install ./{WHEEL}\npython -m pip --version\nenv > seen.txt\nwhich python > which.txt"
    path = os.pathsep.join((str(Path(UV).parent), os.environ["PATH"]))
    environment = {"GITHUB_TOKEN": TOKEN, "COPY": TOKEN, "INPUT_GITHUB-TOKEN": TOKEN, "UV_INDEX_A_PASSWORD": "theirs"}
    outcome = project.scoregate("run", "--install", command, PATH=path, **environment)
    check_installed_outside(outcome, project)
    seen = (project.root / "seen.txt").read_text()
    assert TOKEN not in seen
    assert "INPUT_" not in seen
    assert "UV_INDEX_A_PASSWORD=theirs" in seen
    assert (project.root / "which.txt").read_text().endswith("/venv/bin/python\n")


def test_a_failed_command_is_reported_without_ci_commands(project: Project) -> None:
    outcome = project.scoregate("run", "--install", "echo ::error::boo; echo 'x ##[group]y' >&2; exit 7")
    assert outcome.exit_code == 3
    assert "exit code 7" in outcome.output
    assert "boo" in outcome.output
    assert not [line for line in outcome.output.splitlines() if line.lstrip().startswith("::")]
    assert "##[" not in outcome.output


def test_a_command_that_hangs_is_ended(project: Project) -> None:
    outcome = project.scoregate("run", "--timeout", "1", "--install", "sleep 300")
    assert outcome.exit_code == 3
    assert "more than 1 s" in outcome.output


def test_a_configured_cache_is_used(project: Project, tmp_path: Path) -> None:
    write_requirements(project)
    cache = tmp_path / "cache"
    check_installed_outside(project.scoregate("run", "--install", "requirements", UV_CACHE_DIR=str(cache)), project)
    assert [path for path in cache.rglob("*") if path.is_file() and "demo" in str(path)]
    outcome = project.scoregate("run", "--install", "requirements", UV_CACHE_DIR=str(cache), UV_OFFLINE="1")
    assert outcome.exit_code == 0, outcome.output


def test_a_python_version_can_be_set(project: Project) -> None:
    project.write("evals/demo.py", suite("import sys\nprint('version', sys.version_info[:2])"))
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    outcome = project.scoregate("run", "--python-version", own, SCOREGATE_ACTION="1")
    assert outcome.exit_code == 0, outcome.output
    assert f"version ({sys.version_info.major}, {sys.version_info.minor})" in outcome.output
    outcome = project.scoregate("run", "--python-version", "2.0", SCOREGATE_ACTION="1", UV_PYTHON_DOWNLOADS="never")
    assert outcome.exit_code == 3
    assert "--python 2.0" in outcome.output


def test_list_shows_the_plan_and_creates_nothing(project: Project) -> None:
    write_lock(project)
    outcome = project.scoregate("list", SCOREGATE_ACTION="1", UV_OFFLINE="1")
    assert outcome.exit_code == 0, outcome.output
    assert "an environment made from uv.lock" in outcome.output


def test_exec_commands_find_that_python(project: Project) -> None:
    write_requirements(project)
    project.write("scoregate.toml", "commands = [{ name = 'shell', run = 'python evals/other.py' }]\n")
    project.write("evals/other.py", suite("import demo_dep").replace("'demo'", "'other'"))
    outcome = project.scoregate("run", "--install", "requirements", "--suite", "other")
    assert outcome.exit_code == 0, outcome.output
    assert json.dumps(outcome.run).count('"other"') >= 1
