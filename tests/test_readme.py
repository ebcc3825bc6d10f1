"""Every block of the README, executed as it stands, in the order of the README."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from tests.fakes.chat_service import ChatService
from tests.fakes.openai import OpenAIServer

from scoregate.ci.settings.model import setting_names
from scoregate.cli.init_command import STARTER
from scoregate.cli.main import COMMANDS

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
(
    TRY, INIT, SUITE, LANGUAGES, EVENTS, EXEC, WORKFLOW, MATRIX, SECOND_STAGE, BASELINE, JUDGES, PEOPLE, CALIBRATION,
    OTHERS, SHELL, NODE, BINDING, AGENT, TEST_SET, TEST_TABLE, DATA_TABLE, DATA_SUITE, DATA_RUN, SETTINGS, DEVELOP,
) = range(len(BLOCKS))  # fmt: skip


def run(number: int, folder: Path, *, venv: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([*([str(venv / "bin")] if venv else []), os.environ["PATH"]])
    drop = ("SCOREGATE_", "GITHUB_", "VIRTUAL_ENV", "PYTHON", "PYTEST_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(drop)}
    return subprocess.run(
        ["bash", "-ec", BLOCKS[number][1]],
        cwd=folder,
        env={**clean, "PATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a fresh clone holds: every file that git follows, and nothing else."""
    folder = tmp_path_factory.mktemp("clone") / "scoregate"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, os.fsdecode(listed).split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    return folder


@pytest.fixture(scope="module")
def first(clone: Path) -> subprocess.CompletedProcess[str]:
    """The first command, on which the others build: it makes the environment."""
    return run(TRY, clone)


@pytest.fixture(scope="module")
def project(first: subprocess.CompletedProcess[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty repository of the reader's own."""
    assert first.returncode == 1, first.stderr
    folder = tmp_path_factory.mktemp("project")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


def test_the_first_command_shows_a_comparison_and_a_failed_gate(
    clone: Path, first: subprocess.CompletedProcess[str]
) -> None:
    assert first.returncode == 1, first.stdout + first.stderr
    assert "worse" in first.stdout
    result = json.loads((clone / "scoregate-out" / "result.json").read_text())
    labels = {(row["suite"], row["evaluator"]): row["label"] for row in result["rows"]}
    assert labels["support-bot", "has-all-substrings"] == "worse"
    assert "not comparable" not in labels.values()
    failed = [finding["suite"] for finding in result["findings"] if finding["conclusion"] == "failed"]
    assert failed == ["support-bot"]


def test_init_and_run_are_green_in_an_empty_repository(clone: Path, project: Path) -> None:
    done = run(INIT, project, venv=clone / ".venv")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_suite_of_the_readme_runs_alone_and_under_the_host(clone: Path, project: Path) -> None:
    file = project / "evals" / "eval_hours.py"
    file.write_text(BLOCKS[SUITE][1], encoding="utf-8")
    alone = subprocess.run([clone / ".venv/bin/python", file], capture_output=True, text=True, check=False)
    assert alone.returncode == 0, alone.stderr
    assert "opening-hours" in alone.stdout
    done = scoregate(clone, project, "run", "--suite", "opening-hours")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "closed" in done.stdout


def test_a_shell_script_is_a_suite(clone: Path, project: Path) -> None:
    (project / "scoregate.toml").write_text(BLOCKS[LANGUAGES][1], encoding="utf-8")
    (project / "evals" / "suite.sh").write_text(BLOCKS[EVENTS][1], encoding="utf-8")
    done = scoregate(clone, project, "run", "--suite", "shell-suite")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_command_alone_is_a_run(clone: Path, project: Path) -> None:
    done = run(EXEC, project, venv=clone / ".venv")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "my first run" in (project / "scoregate-out" / "comment.md").read_text(encoding="utf-8").splitlines()[1]


def test_a_run_is_the_base_of_the_next(clone: Path, project: Path) -> None:
    (project / "evals" / "eval_hours.py").unlink(missing_ok=True)
    done = run(BASELINE, project, venv=clone / ".venv")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((project / "scoregate-out" / "result.json").read_text())["base"] is not None


def test_the_judges_of_the_readme_grade_and_tell_what_it_cost(clone: Path, project: Path) -> None:
    file = project / "evals" / "eval_judged.py"
    file.write_text(BLOCKS[JUDGES][1], encoding="utf-8")
    with OpenAIServer.start() as server:
        judged = ("run", "--suite", "opening-hours-judged", "--baseline", "none")
        done = scoregate(clone, project, *judged, **server.environment)
        again = scoregate(clone, project, *judged, "--cache", "readonly", OPENAI_BASE_URL=server.url)
        asked = len(server.asked())
    file.unlink()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "is-accurate" in done.stdout
    assert again.returncode == 0, again.stdout + again.stderr
    assert asked == 1, (
        "the battle has nobody to fight, then an output that is the same; what is known is not asked again"
    )
    comment = (project / "scoregate-out" / "comment.md").read_text(encoding="utf-8")
    assert "judged by <code>gpt-4o</code>" in comment


def test_people_correct_a_judge(clone: Path, project: Path) -> None:
    done = run(PEOPLE, project, venv=clone / ".venv")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 added, 0 changed, 1 known before" in done.stdout
    assert "1 of the 10 overrides" in done.stdout


def test_a_test_set_is_made_and_goes_through_a_table(clone: Path, project: Path) -> None:
    file = project / "make_test_set.py"
    file.write_text(BLOCKS[TEST_SET][1], encoding="utf-8")
    made = subprocess.run([clone / ".venv/bin/python", file], cwd=project, capture_output=True, text=True, check=False)
    assert (made.returncode, made.stdout) == (0, ""), made.stderr
    done = run(TEST_TABLE, project, venv=clone / ".venv")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "more-hours: Single-Turn, 1 tests" in done.stdout
    assert "Opening Hours: Single-Turn, 1 of 1 tests" in done.stdout
    file.unlink()


def test_a_table_and_a_file_of_toml_are_a_suite(clone: Path, project: Path) -> None:
    folder = project / "evals"
    (folder / "refunds.csv").write_text(BLOCKS[DATA_TABLE][1], encoding="utf-8")
    (folder / "refunds.toml").write_text(BLOCKS[DATA_SUITE][1], encoding="utf-8")
    with ChatService.start() as shop, OpenAIServer.start() as server:
        server.answers("show the behavior", {"answer": "Yes"})
        server.answers("worn|wore", {"answer": "No"})
        environment = {**server.environment, "SHOP_URL": f"{shop.url}/chat"}
        done = scoregate(clone, project, "run", "evals/refunds.toml", "--baseline", "none", **environment)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "refund-desk · refunds.csv:3" in done.stdout
    assert "set in evals/refunds.toml:9" in " ".join(done.stdout.split())
    done = run(DATA_RUN, clone, venv=clone / ".venv")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("refund-desk: 12 cases, 11 passed") == 2
    for name in ("refunds.csv", "refunds.toml"):
        (folder / name).unlink()


def test_an_agent_is_run_past_judges(clone: Path, project: Path) -> None:
    made, run_by = project / "make_config.py", project / "evals" / "eval_agent.py"
    made.write_text(BLOCKS[BINDING][1], encoding="utf-8")
    subprocess.run([clone / ".venv/bin/python", made], cwd=project, check=True)
    made.unlink()
    run_by.write_text(BLOCKS[AGENT][1], encoding="utf-8")
    with OpenAIServer.start() as server:
        asked = ("run", "--suite", "nightly-regression", "--baseline", "none")
        done = scoregate(clone, project, *asked, **server.environment)
        assert server.asked()
    run_by.unlink()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pass_condition" in done.stdout


@pytest.mark.skipif(shutil.which("node") is None, reason="suites in JavaScript are NOT tested: there is no node")
def test_suites_may_be_in_any_language(clone: Path, project: Path) -> None:
    (project / "scoregate.toml").write_text(BLOCKS[OTHERS][1], encoding="utf-8")
    (project / "evals" / "smoke.sh").write_text(BLOCKS[SHELL][1], encoding="utf-8")
    (project / "evals" / "titles.mjs").write_text(BLOCKS[NODE][1], encoding="utf-8")
    done = scoregate(clone, project, "run", "--suite", "smoke", "--suite", "titles", "--baseline", "none")
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((project / "scoregate-out" / "result.json").read_text())
    told = [(each["id"], each["passed"], each["trials"]) for each in result["suites"]]
    assert sorted(told) == [("smoke", 3, 3), ("titles", 3, 3)]


@pytest.mark.parametrize("block", [SETTINGS, CALIBRATION])
def test_the_settings_of_the_readme_are_settings(clone: Path, project: Path, block: int) -> None:
    (project / "scoregate.toml").write_text(BLOCKS[block][1], encoding="utf-8")
    done = scoregate(clone, project, "list")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_command_that_runs_the_tests_finds_them(clone: Path, first: subprocess.CompletedProcess[str]) -> None:
    """Only collected: this test is one of them. CI installed the same from nothing, in the same words."""
    assert first.returncode == 1
    installs = BLOCKS[DEVELOP][1].partition(" && ")[0]
    assert f"\n{installs}\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert BLOCKS[DEVELOP][1].partition(" && ")[2] in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (packages,) = (clone / ".venv" / "lib").glob("python3.*/site-packages")
    (packages / "installed-by-ci.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    done = run(DEVELOP, clone, PYTEST_ADDOPTS="--collect-only --ignore=tests/integration --ignore=tests/unit")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert "tests/test_readme.py" in done.stdout


def scoregate(clone: Path, folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [clone / ".venv/bin/scoregate", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_setting_and_command_is_named() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in setting_names() if f"`{name}`" not in text and f'`{name}."GLOB"`' not in text] == []
    assert [name for name in COMMANDS if f"`scoregate {name}" not in text] == []


def test_the_first_workflow_is_the_one_that_init_writes() -> None:
    written = (ROOT / "src/scoregate/cli/starter/workflow.yml.txt").read_text(encoding="utf-8")
    first, _, rest = BLOCKS[WORKFLOW][1].partition("\n")
    assert rest == written
    assert {f"# {name}": template for name, template in STARTER.items()}[first] == "workflow.yml.txt"


@pytest.mark.parametrize("number", [WORKFLOW, MATRIX, SECOND_STAGE])
def test_the_workflows_are_valid(number: int, tmp_path: Path) -> None:
    text = BLOCKS[number][1]
    whole = text if "\non:" in text else f"name: evals\non: pull_request\n{text}"
    path = tmp_path / "workflow.yml"
    path.write_text(whole, encoding="utf-8")
    check = [Path(sys.executable).with_name("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", path]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
