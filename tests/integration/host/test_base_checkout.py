"""A base that runs again measures its own commit: it doesn't read files of the change's checkout."""

from __future__ import annotations

import sys

import pytest
from tests.integration.host.conftest import Project, Ran

SUITE = """
import os, subprocess, sys
from pathlib import Path
from scoregate import evaluate
from scoregate.scorers import equals


def answer(text):
    {body}


evaluate("s", data=[{{"input": f"q {{i}}", "expected": "ok"}} for i in range({cases})], task=answer, scorers=[equals()])
"""
SETTINGS = "min_pass_rate = 0\nfail_on_regression = true\n"


def prepare(project: Project, body: str, *, folder: str = "", cases: int = 30) -> None:
    project.write(".gitignore", "__pycache__/\nscoregate-out/\n.scoregate-cache/\nshared/\n")
    project.write(f"{folder}scoregate.toml", SETTINGS)
    project.write(f"{folder}evals/eval_s.py", SUITE.format(body=body, cases=cases))
    for text in ("ok", "no"):
        project.write("libs/prompt.py", f"TEXT = {text!r}\n")
        project.write("prompt.txt", text)
        project.commit(text)


def rerun(project: Project, *arguments: str, **environment: str) -> Ran:
    return project.scoregate("run", *arguments, "--baseline", "rerun:HEAD~1", **environment)


def test_variables_lead_to_the_files_of_the_base(project: Project) -> None:
    prepare(project, "return Path(os.environ['PLACE']).read_text()")
    outcome = rerun(project, PLACE=f"{project.root}/prompt.txt")
    assert outcome.exit_code == 1, outcome.output
    assert outcome.result["rows"][0]["worse"] == 30


def test_imports_of_a_monorepo_are_those_of_the_base(project: Project) -> None:
    prepare(project, "import prompt; return prompt.TEXT", folder="app/")
    libs = str(project.root / "libs")
    outcome = rerun(project, "--working-directory", "app", PYTHONPATH=libs)
    assert outcome.exit_code == 1, outcome.output


WAYS = {
    "itself": "return Path(place).read_text()",
    "in a child": "code = f'print(open({place!r}).read())'; "
    "return subprocess.check_output([sys.executable, '-c', code], text=True)[:2]",
}


@pytest.mark.parametrize("way", list(WAYS))
def test_a_base_that_opens_files_of_the_change_is_not_compared(project: Project, way: str) -> None:
    prepare(project, f"place = {f'{project.root}/prompt.txt'!r}; {WAYS[way]}", cases=3)
    outcome = rerun(project)
    assert outcome.exit_code == 3, outcome.output
    text = " ".join(outcome.output.split())
    assert f"opened prompt.txt in {project.root}, the checkout of the change. Build paths from `__file__`" in text
    assert [row["label"] for row in outcome.result["rows"]] == ["new"]
    assert outcome.result["base"] is None
    project.write("scoregate.toml", "min_pass_rate = 0\n")
    project.commit("no gate needs a base")
    assert rerun(project).exit_code == 0


def test_ignored_files_are_shared(project: Project) -> None:
    project.write("shared/data.txt", "ok")
    prepare(project, "return Path(os.environ['DATA']).read_text()")
    outcome = rerun(project, DATA=f"{project.root}/shared/data.txt")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.result["rows"][0]["label"] == "unchanged"


def test_a_temporary_folder_in_the_checkout_is_no_reason(project: Project) -> None:
    """The base's own work tree is in it."""
    prepare(project, "return Path('prompt.txt').read_text()")
    (project.root / "tmp").mkdir()
    outcome = project.run_process("run", "--baseline", "rerun:HEAD~1", TMPDIR=f"{project.root}/tmp")
    assert outcome.exit_code == 1, outcome.output


def test_a_command_that_names_the_checkout_runs_in_the_base(project: Project) -> None:
    prepare(project, "return Path(sys.argv[1]).read_text()")
    command = f'[[commands]]\nname = "s"\nrun = ["{sys.executable}", "evals/eval_s.py", "{project.root}/prompt.txt"]\n'
    project.write("scoregate.toml", f"paths = []\n{SETTINGS}{command}")
    outcome = rerun(project)
    assert outcome.exit_code == 1, outcome.output
