"""A project whose run, store and cache were written by scoregate 0.1.0: everything in it can be read and compared."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.cli import run_cli

MADE = Path(__file__).parent.parent.parent / "data" / "previous_version" / "project"
ENVIRON = {
    **{name: value for name, value in os.environ.items() if name not in ("CI", "OPENAI_API_KEY")},
    "GREETING": "Hello! ",
    "SCOREGATE_CACHE": "readonly",
    "OPENAI_BASE_URL": "http://127.0.0.1:9",  # nothing listens here: all answers come from the cache
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("previous") / "project"
    shutil.copytree(MADE, folder)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.fixture(scope="module")
def result(project: Path) -> dict[str, Any]:
    environ = {**ENVIRON, "PYTHONPATH": str(project / "evals")}
    outcome = run_cli("run", "--baseline", "run", "--out", "now", cwd=project, environ=environ)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return json.loads((project / "now" / "result.json").read_text())


def fingerprints(run: Path) -> dict[str, Any]:
    suites = json.loads((run / "run" / "run.json").read_text())["suites"]
    return {
        f"{suite['id']} · {name}": evaluator["fingerprint"]
        for suite in suites
        for name, evaluator in suite["evaluators"].items()
    }


@pytest.mark.usefixtures("result")
def test_no_fingerprint_differs(project: Path) -> None:
    before = fingerprints(project / "run")
    assert len(before) == 28
    assert fingerprints(project / "now") == before


def test_every_row_is_compared_and_no_score_differs(result: dict[str, Any]) -> None:
    rows = result["rows"]
    assert len(rows) == 28
    differing = [row["evaluator"] for row in rows if row["label"] != "too few" or row["delta"] or row["changed"]]
    assert differing == ["manual-battle"]


def test_stored_runs_are_gated_again(project: Path) -> None:
    outcome = run_cli("gate", "run", "--baseline", "base", "--max-drop", "0.1", cwd=project, environ=ENVIRON)
    assert "Drop of sdk · is-equals" in outcome.stdout + outcome.stderr
    for form in ("junit", "markdown", "json", "html", "console"):
        assert run_cli("report", "run", "--format", form, cwd=project, environ=ENVIRON).returncode == 0


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["dataset", "versions", "golden-set"], "2"),
        (["judge", "show", "helpfulness"], "prod"),
        (["testset", "show", "opening-hours"], "When do you close?"),
        (["config", "show", "nightly-regression"], "faithfulness"),
        (["overrides", "list"], "no time zone"),
        (["verdicts", "list"], "challenger"),
        (["agreement"], "accuracy"),
    ],
    ids=lambda each: each if isinstance(each, str) else each[0],
)
def test_the_store_is_read(project: Path, command: list[str], expected: str) -> None:
    outcome = run_cli(*command, cwd=project, environ=ENVIRON)
    assert outcome.returncode == 0, outcome.stderr
    assert expected in outcome.stdout
