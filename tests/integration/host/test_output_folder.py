"""Where reports go: a folder of their own, in which nothing of anybody else's is lost."""

from __future__ import annotations

import shutil
import sys

import pytest
from tests.integration.host.conftest import Project, suite

RUN = ("run", "--baseline", "none")


@pytest.mark.parametrize("out", [".", ".."])
@pytest.mark.parametrize("command", ["run", "exec", "merge", "testset run"])
def test_reports_never_replace_the_project(project: Project, command: str, out: str) -> None:
    project.write("evals/demo.py", suite())
    project.write("tests.csv", "prompt_content\nHow?\n")
    assert project.scoregate(*RUN).exit_code == 0
    leg = shutil.copytree(project.root / "scoregate-out/run", project.root / "leg")
    words = {"exec": ["--", sys.executable, "evals/demo.py"], "merge": [str(leg)]}.get(command, [])
    words = ["tests.csv", "--endpoint", "os:getcwd"] if command == "testset run" else words
    before = sorted(path.name for path in project.root.iterdir())
    outcome = project.scoregate(*command.split(), "--out", out, *words)
    assert outcome.exit_code == 2, outcome.output
    assert "it holds the project" in outcome.output
    assert sorted(path.name for path in project.root.iterdir()) == before


@pytest.mark.parametrize("name", ["report.html", "comment.md", "junit.xml", "result.json", "run/run.json"])
def test_a_file_of_another_program_is_kept(project: Project, name: str) -> None:
    project.write("evals/demo.py", suite())
    theirs = project.write(f"site/{name}", "{}")
    outcome = project.scoregate(*RUN, "--out", "site")
    assert outcome.exit_code == 2, outcome.output
    assert f"would replace {name}" in " ".join(outcome.output.split())
    assert "--out" in outcome.output
    assert [path for path in (project.root / "site").rglob("*") if path.is_file()] == [theirs]
    assert theirs.read_text() == "{}"


def test_a_folder_with_other_files_keeps_them(project: Project) -> None:
    project.write("evals/demo.py", suite())
    other = project.write("site/index.html", "theirs")
    assert project.scoregate(*RUN, "--out", "site").exit_code == 0
    assert other.read_text() == "theirs"
    assert (project.root / "site/report.html").exists()


@pytest.mark.parametrize("lost", ["run", "result.json", "damaged"])
def test_earlier_reports_are_replaced(project: Project, lost: str) -> None:
    project.write("evals/demo.py", suite())
    outcome = project.scoregate(*RUN)
    if lost == "damaged":
        record = outcome.out / "run" / "run.json"
        record.write_bytes(record.read_bytes()[:100])
        (outcome.out / "result.json").write_text("")
    elif lost == "run":
        shutil.rmtree(outcome.out / "run")
    else:
        (outcome.out / "result.json").unlink()
    second = project.scoregate(*RUN)
    assert second.exit_code == 0, second.output
