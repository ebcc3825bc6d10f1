"""The action for runners without Docker: its steps, run by bash as a runner would run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.integration.host.conftest import Project, Ran, clean_environment, suite

ROOT = Path(__file__).parents[2]
INPUT = re.compile(r"\$\{\{ inputs\.([a-z-]+) \}\}")
TOKEN = "ghs_0123456789abcdefghij"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "workspace"
    root.mkdir()
    return Project(root)


def step(project: Project, inputs: dict[str, str], venv: Path | None = None, **environment: str) -> Ran:
    """Run the action's only step: inputs reach it through the variables that it declares, and in no other way.

    Args:
        project: the workspace.
        inputs: what the workflow has below `with`.
        venv: the environment that an earlier step made. Only the step's last command runs, in it.
        **environment: variables of the step.
    """
    (declared,) = yaml.safe_load((ROOT / "composite" / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    assert declared["shell"] == "bash"
    variables = {
        name: INPUT.sub(lambda found: inputs.get(found[1], ""), text) for name, text in declared["env"].items()
    }
    script = project.root.parent / "step.sh"
    *_, last = declared["run"].splitlines(keepends=True)
    script.write_text(f"venv='{venv}'\n{last}" if venv else declared["run"], encoding="utf-8")
    temp = project.root.parent / "temp"
    temp.mkdir(exist_ok=True)
    runner = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(ROOT / "composite"),
        "GITHUB_WORKSPACE": str(project.root),
        "RUNNER_TEMP": str(temp),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    process = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script],
        cwd=project.root,
        env={**clean_environment(), **runner, **variables, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Ran(process.returncode, process.stdout, project.root / "scoregate-out")


def test_it_installs_itself_and_suite_packages(project: Project) -> None:
    spy = "import iniconfig, os\nprint('prefix', __import__('sys').prefix)\nprint('sees', sorted(os.environ))"
    project.write("requirements.txt", "iniconfig>=2\n")
    project.write("evals/demo.py", suite(spy, bad=1))
    for name in ("pip.py", "venv.py"):
        project.write(name, "open('owned', 'w').close()")
    hostile = "$(touch owned); `touch owned`; '; touch owned; '"
    inputs = {"github-token": TOKEN, "min-pass-rate": "0.5", "message": hostile}
    outcome = step(project, inputs, COPY_OF_IT=TOKEN)
    assert outcome.exit_code == 0, outcome.output
    assert outcome.statuses == {"passed": 3, "failed": 1}
    assert outcome.run["message"] == hostile
    assert not list(project.root.rglob("owned"))
    prefix = next(line.split()[-1] for line in outcome.output.splitlines() if "| prefix" in line)
    assert Path(prefix).is_relative_to(project.root.parent / "temp")
    seen = next(line for line in outcome.output.splitlines() if "| sees" in line)
    assert [name for name in ("INPUT_", "GITHUB_TOKEN", "COPY_OF_IT") if name in seen] == []
    project.write("scoregate.toml", "min_pass_rate = 1.0\n")
    (venv,) = (project.root.parent / "temp").glob("scoregate-*/bin/scoregate")
    assert step(project, {"install": "none", "suite": "nothing*"}, venv.parents[1]).exit_code == 3
