"""In a repository with evals of another framework, `list` shows the settings for them, and `init` writes these."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.integration.host.conftest import PYTEST_ENVIRONMENT, Project, suite

from scoregate import __version__

TEST = "import pytest\n\n@pytest.mark.parametrize('q', ['a', 'b'])\ndef test_answer(q):\n    assert q == 'a'\n"
LINES = """
  [[commands]]
  name = "pytest"
  run = ["pytest", "--junitxml", "pytest-results.xml", "evals/test_answers.py"]
  junit = ["pytest-results.xml"]
"""
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
WORKFLOW = ".github/workflows/evals.yml"


def test_init_runs_the_evals_that_list_shows(project: Project) -> None:
    project.write("evals/test_answers.py", TEST)
    outcome = project.scoregate("list")
    assert outcome.exit_code == 3
    assert "These evals are no suites yet:\n  pytest in evals/test_answers.py\n" in outcome.output
    assert f"`scoregate init` makes them suites. It writes these lines to scoregate.toml, and a workflow:\n{LINES}" in (
        outcome.output
    )
    run_outcome = project.scoregate("run", "--baseline", "none")
    assert run_outcome.exit_code == 3
    assert "note: There are evals that are no suites yet: pytest in evals/test_answers.py.\n" in run_outcome.output
    assert 'commands = [{ name = "pytest", run = ["pytest"' in " ".join(run_outcome.output.split())
    init = project.scoregate("init")
    assert init.output.splitlines()[:2] == ["written  scoregate.toml", f"written  {WORKFLOW}"]
    assert not (project.root / "evals" / "eval_hours.py").exists()
    run_outcome = project.scoregate("run", "--baseline", "none", **PYTEST_ENVIRONMENT, PATH=PATH)
    assert run_outcome.exit_code == 1, run_outcome.output
    assert run_outcome.statuses == {"passed": 1, "failed": 1}


def test_init_leaves_settings_alone_and_prints_what_to_add(project: Project) -> None:
    project.write("evals/test_answers.py", TEST)
    table = "the table [tool.scoregate] in pyproject.toml"
    for file, place, text, lines in (
        ("pyproject.toml", table, "[tool.scoregate]\nmin_pass_rate = 0.5\n", LINES.replace("[[", "[[tool.scoregate.")),
        ("scoregate.toml", "scoregate.toml", "min_pass_rate = 0.5\n", LINES),
    ):
        (project.root / "pyproject.toml").unlink(missing_ok=True)
        project.write(file, text)
        for command in ("init", "list"):
            output = project.scoregate(command).output
            assert f"Add these lines to {place} to make them suites:\n{lines}" in output
        notes = " ".join(project.scoregate("run", "--baseline", "none").output.split())
        assert 'note: This line in the settings makes a suite of them: commands = [{ name = "pytest"' in notes
        assert (project.root / file).read_text(encoding="utf-8") == text
    assert not (project.root / "evals" / "eval_hours.py").exists()


def test_init_follows_no_link_out_of_the_project(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")
    (project.root / "scoregate.toml").symlink_to(home / ".zshenv")
    init = project.scoregate("init")
    assert (init.exit_code, "kept     scoregate.toml" in init.output) == (0, True), init.output
    for link, target in ((".github/workflows", home), (".github", home), (".github", home / "new"), ("evals", "evals")):
        shutil.rmtree(project.root / ".github", ignore_errors=True)
        shutil.rmtree(project.root / "evals", ignore_errors=True)
        path = project.root / link
        path.parent.mkdir(exist_ok=True)
        path.symlink_to(target)
        init = project.scoregate("init")
        assert init.exit_code == 2, init.output
        assert "can't be written: " in init.output
        assert list(home.iterdir()) == []
        path.unlink()
    (project.root / "inside").mkdir()
    (project.root / "evals").symlink_to("inside")
    assert project.scoregate("init").exit_code == 0
    assert (project.root / "inside" / "eval_hours.py").is_file()


def test_names_of_files_in_written_settings_are_single_words(project: Project) -> None:
    names = ("$(touch a)", "`touch b`", "x; touch c", "x' touch d '", 'x" touch e "', "x\\", "x\\' touch f '")
    for name in names:
        project.write(f"evals/{name}/test_answers.py", TEST)
    assert project.scoregate("init").exit_code == 0
    settings = tomllib.loads((project.root / "scoregate.toml").read_text(encoding="utf-8"))
    assert settings["fail_on_regression"] is True
    (command,) = settings["commands"]
    # No shell reads these words.
    assert {f"evals/{name}" for name in names} <= set(command["run"]), command["run"]
    project.scoregate("run", "--baseline", "none", PATH=PATH)
    created = {path.name for path in project.root.rglob("*") if path.name in "abcdef"}
    assert created == set()


def test_with_a_suite_other_frameworks_are_not_searched(project: Project) -> None:
    project.write("evals/demo.py", suite())
    project.write("promptfooconfig.yaml", "")
    assert "promptfoo" not in project.scoregate("list").output
    assert "No suites were found with these filters.\n" in project.scoregate("list", "--suite", "other").output


def test_without_evals_that_run_unchanged_init_ends_with_a_suite_that_works(project: Project) -> None:
    project.write("data.py", "from pydantic_evals import Dataset\nDataset([]).evaluate_sync(print)\n")
    init = project.scoregate("init")
    assert "written  evals/eval_hours.py" in init.output
    assert "pydantic-evals needs some lines of code to report to scoregate: https://" in init.output
    assert project.scoregate("run", "--baseline", "none").exit_code == 0


def test_init_takes_the_keys_of_the_repositorys_workflows(project: Project) -> None:
    other = """
    env:
      ANTHROPIC_API_KEY: ${{ secrets.CLAUDE_KEY }}
      GEMINI_API_KEY: "${{secrets.GEMINI_API_KEY}}"
      CODECOV_TOKEN: ${{ secrets.CODECOV_TOKEN }}
      GROQ_API_KEY: ${{ vars.GROQ }}
    """
    project.write(".github/workflows/ci.yaml", other)
    project.write(".github/workflows/bytes.yml", "").write_bytes(b"\xff")
    project.scoregate("init", "--commands")
    for name in (WORKFLOW, ".github/workflows/scoregate-commands.yml"):
        text = (project.root / name).read_text(encoding="utf-8")
        keys = [line.strip() for line in text.splitlines() if "secrets." in line]
        assert keys == [
            "ANTHROPIC_API_KEY: ${{ secrets.CLAUDE_KEY }}",
            "GEMINI_API_KEY: ${{ secrets.GEMINI_API_KEY }}",
        ]


def test_init_pins_its_own_action_if_it_knows_the_commit(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "git ls-remote https://github.com/scoregate/scoregate v1\n" in project.scoregate("init").output
    origins = {
        "https://github.com/scoregate/scoregate.git": True,
        "https://github.com/acme/scoregate.git": False,
    }
    for url, is_pinned in origins.items():
        (project.root / WORKFLOW).unlink()
        text = json.dumps({"url": url, "vcs_info": {"vcs": "git", "commit_id": "0a" * 20}})
        installed = SimpleNamespace(read_text=lambda _, text=text: text)
        monkeypatch.setattr("scoregate.cli.init_command.distribution", lambda _, installed=installed: installed)
        output = project.scoregate("init").output
        written = (project.root / WORKFLOW).read_text(encoding="utf-8")
        assert (f"scoregate/scoregate@{'0a' * 20} # {__version__}\n" in written) is is_pinned
        assert ("git ls-remote" in output) is not is_pinned
