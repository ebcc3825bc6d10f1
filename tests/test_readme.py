"""The README: every block executed in its order, as on the pages in docs/; the two set-up commands in a fresh clone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sysconfig
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.docs.page import Block, read_blocks
from tests.docs.project import Project, execute

from scoregate.cli import init_command

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
BLOCKS = read_blocks(README)
TRY, TESTS = (next(block for block in BLOCKS if text in block.text) for text in ("[examples]", "pytest"))
WORKFLOW = next(block for block in BLOCKS if block.language == "yaml")


def run(block: Block, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    drop = ("SCOREGATE_", "GITHUB_", "VIRTUAL_ENV", "PYTHON", "PYTEST_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(drop)}
    return subprocess.run(
        ["bash", "-ec", block.text],
        cwd=folder,
        env={**clean, "PIP_NO_COMPILE": "1", **environment},  # Python compiles the few modules that it imports
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a fresh clone holds: every file that git follows, and nothing else."""
    folder = tmp_path_factory.mktemp("clone") / "scoregate"
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, os.fsdecode(listing).split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    return folder


@pytest.fixture(scope="module")
def first(clone: Path) -> subprocess.CompletedProcess[str]:
    """The first command, on which the last one builds: it makes the environment."""
    return run(TRY, clone)


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


def test_the_other_blocks_work(tmp_path: Path) -> None:
    with ExitStack() as stack:
        project = Project(tmp_path, README, stack)
        for block in BLOCKS:
            if block not in (TRY, TESTS):
                execute(block, project, None)
    assert "compared" not in project.outputs[-1]
    assert json.loads((tmp_path / "scoregate-out" / "result.json").read_text())["base"] is not None


def test_the_command_that_runs_the_tests_finds_them(clone: Path, first: subprocess.CompletedProcess[str]) -> None:
    """Only collected: this test is one of them. CI runs the command as it is in the README."""
    assert first.returncode == 1
    (cut,) = re.findall(r"^command=\$\((.*)\)$", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)
    assert subprocess.check_output(["bash", "-ec", cut], cwd=ROOT, text=True) == TESTS.text
    assert TESTS.text.partition(" && ")[2] in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (packages,) = (clone / ".venv" / "lib").glob("python3.*/site-packages")
    (packages / "installed-by-ci.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    # The compilation of all tests would take long.
    ignored = " ".join(f"--ignore=tests/{name}" for name in ("contract", "docs", "e2e", "integration", "unit"))
    outcome = run(TESTS, clone, PYTEST_ADDOPTS=f"--collect-only {ignored}")
    assert outcome.returncode == 0, outcome.stdout[-2000:] + outcome.stderr
    assert "tests/test_architecture.py" in outcome.stdout
    assert "nox -s all" in outcome.stdout


def test_the_workflow_is_the_one_that_init_writes() -> None:
    written = (ROOT / "src/scoregate/cli/starter/workflow.yml.txt").read_text(encoding="utf-8")
    first, _, rest = WORKFLOW.text.partition("\n")
    assert rest == written
    assert first == f"# {init_command.WORKFLOW}"


def test_it_is_short_and_works_on_the_page_of_a_package_index() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert [target for target in targets if not target.startswith("https://")] == []
    for target in targets:
        repository = re.match(
            r"https://(?:raw\.githubusercontent\.com/\w+/\w+|github\.com/\w+/\w+/(?:blob|tree))/main/", target
        )
        if repository:
            assert (ROOT / target[repository.end() :]).exists(), target


def test_links_to_the_site_are_pages() -> None:
    site = "https://scoregate.github.io/scoregate/"
    text = README.read_text(encoding="utf-8")
    for page in re.findall(rf"\]\({re.escape(site)}([^)#]*)\)", text):
        name = page.rstrip("/")
        assert any(
            (ROOT / "docs" / each).exists()
            for each in (f"{name}.md", f"{name}/index.md", "index.md" if not name else "-")
        ), page
