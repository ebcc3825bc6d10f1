"""Commands that run deepeval: every test run is read, and a file that can hide one is never green."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from tests.integration.host.conftest import Project, Ran, project

from scoregate.features.imports.deepeval_runs import open_results_folder
from scoregate.kernel.host.user_ids import Identity
from scoregate.kernel.run.plan import Launch, ResultImport, SourceKind, SuiteSource

__all__ = ["project"]
LATEST = ".deepeval/.latest_run_full.json"


def run_file(case: str, *, passed: bool = True) -> str:
    metric = {"name": "Exact", "score": float(passed), "success": passed, "threshold": 0.5}
    return json.dumps({"testCases": [{"name": case, "input": case, "metricsData": [metric]}]})


def run_deepeval(project: Project, *runs: str, folder: str = "$DEEPEVAL_RESULTS_FOLDER", **options: str) -> Ran:
    """Run a command that writes test runs as deepeval does: each to the folder, the last one to a file of its own."""
    names = [f"test_run_20261123_055610{suffix}.json" for suffix in ("", "_2", "_10")]
    lines = [f'mkdir -p .deepeval "{folder}"']
    for index, text in enumerate(runs):
        source = project.write(f"from/{index}.json", text)
        lines += [f'cp {source} "{folder}/{options.get("name", names[index])}"', f"cp {source} {LATEST}"]
    command = " && ".join(lines)
    environment = {name: value for name, value in options.items() if name.isupper()}
    imports = ["--import", f"deepeval:{options.get('imports', LATEST)}"]
    return project.scoregate("exec", *imports, "--baseline", "none", "--", "sh", "-c", command, **environment)


def test_a_regression_in_an_earlier_test_run_fails(project: Project) -> None:
    outcome = run_deepeval(project, run_file("a", passed=False), run_file("b"), run_file("c"))
    assert outcome.exit_code == 1, outcome.output
    assert [(suite["id"], suite["cases"]) for suite in outcome.run["suites"]] == [("deepeval", 3)]
    assert "✗ a  deepeval" in outcome.output


def test_a_folder_that_the_environment_names_is_read_without_older_files(project: Project) -> None:
    project.write("own/test_run_20250101_000000.json", run_file("old", passed=False))
    outcome = run_deepeval(project, run_file("a"), run_file("b"), DEEPEVAL_RESULTS_FOLDER="own")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.statuses == {"passed": 2}
    assert len(list((project.root / "own").iterdir())) == 3


def test_a_folder_that_the_command_names_is_read_by_its_files(project: Project) -> None:
    outcome = run_deepeval(
        project, run_file("a", passed=False), run_file("b"), folder="own", imports="own/test_run_*.json"
    )
    assert outcome.exit_code == 1, outcome.output
    assert outcome.statuses == {"passed": 1, "failed": 1}


def test_folders_that_only_some_calls_name_are_read(project: Project) -> None:
    """As with `evaluate(…, results_folder="own")` and another `evaluate(…)`."""
    project.write("own/deep/test_run_20250101_000000.json", run_file("old", passed=False))
    bad, good = project.write("from/a.json", run_file("a", passed=False)), project.write("from/b.json", run_file("b"))
    command = (
        f"mkdir -p .deepeval && cp {bad} own/deep/test_run_20261123_055610.json && cp {bad} {LATEST}"
        f' && cp {good} "$DEEPEVAL_RESULTS_FOLDER/test_run_20261123_055611.json" && cp {good} {LATEST}'
    )
    outcome = project.scoregate("exec", "--import", f"deepeval:{LATEST}", "--", "sh", "-c", command)
    assert outcome.exit_code == 1, outcome.output
    assert outcome.statuses == {"passed": 1, "failed": 1}, "without the older run"


def test_a_file_that_can_hide_test_runs_is_never_green(project: Project) -> None:
    old = {"folder": "own", "name": "20261123_055610", "imports": "own/2*"}
    outside = {"folder": str(project.root.parent / "outside")}
    for options, expected in (
        (
            outside,
            f"'{LATEST}' keeps only the last test run of a command, and the folder DEEPEVAL_RESULTS_FOLDER has no",
        ),
        (old, "version of deepeval that keeps only one test run"),
    ):
        outcome = run_deepeval(project, run_file("a", passed=False), run_file("b"), **options)
        assert outcome.exit_code == 3, outcome.output
        assert expected in json.dumps(outcome.result["errors"])
        assert "version 4 or later" in outcome.output
    project.write("from/x.json", run_file("x"))
    command = f"echo '{run_file('a')}' > \"$DEEPEVAL_RESULTS_FOLDER/test_run_20261123_055610.json\""
    command += f" && mkdir -p .deepeval && cp from/x.json {LATEST}"
    outcome = project.scoregate("exec", "--import", f"deepeval:{LATEST}", "--", "sh", "-c", command)
    assert outcome.exit_code == 3, outcome.output
    assert "that run is not in the folder DEEPEVAL_RESULTS_FOLDER" in json.dumps(outcome.result["errors"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_the_folder_belongs_to_the_user_of_the_command(tmp_path: Path) -> None:
    source = SuiteSource("x", SourceKind.COMMAND, imports=(ResultImport("deepeval", LATEST),))
    launch = Launch("x", ("true",), tmp_path, SourceKind.COMMAND, source)
    folder = open_results_folder(launch, {}, tmp_path, Identity(65534, 65534))
    assert folder is not None
    assert folder.environment == {"DEEPEVAL_RESULTS_FOLDER": str(folder.path)}
    assert folder.path.stat().st_uid == 65534
    other = Launch("x", ("true",), tmp_path, SourceKind.COMMAND, SuiteSource("x", SourceKind.COMMAND))
    assert open_results_folder(other, {}, tmp_path, None) is None


CHECKS = """
import json, os

cases = []

def check(name, score):  # as assert_test: recorded, then asserted
    metric = {"name": "Brief", "score": score, "success": score >= 0.5, "threshold": 0.5}
    cases.append({"name": name, "input": name, "success": score >= 0.5, "metricsData": [metric]})
    assert score >= 0.5

def pytest_sessionfinish():
    folder = os.environ["DEEPEVAL_RESULTS_FOLDER"]
    with open(f"{folder}/test_run_20261123_055610.json", "w") as file:
        json.dump({"testCases": cases}, file)
"""
TESTS = """
import os, pytest
from conftest import check

def test_good(): check("test_good", 1)
def test_bad(): check("test_bad", 0 if os.environ.get("BAD") else 1)
def test_refused():
    with pytest.raises(AssertionError): check("test_refused", 0)
def test_plain(): assert not os.environ.get("PLAIN"), "the policy is missing"
@pytest.mark.scoregate(suite="marked")
def test_marked(): assert not os.environ.get("MARKED")
"""


def run_tests(project: Project, *options: str, **environment: str) -> Ran:
    project.write("conftest.py", CHECKS)
    project.write("test_bot.py", TESTS)
    imports = ["--import", "deepeval:.deepeval/.latest_run_full.json", "--import", "deepeval:results/*.json"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "test_bot.py"]
    limits = ["--min-pass-rate", "0.6", "--baseline", "none"]
    return project.scoregate("exec", *imports[2:], *limits, "--", *command, **environment)


def test_the_outcomes_of_tests_count_and_not_only_their_metrics(project: Project) -> None:
    results = {"DEEPEVAL_RESULTS_FOLDER": "results", "PYTEST_PLUGINS": "scoregate.pytest_plugin"}
    (project.root / "results").mkdir()
    for environment, exit_code, passed in (
        ({}, 0, 4),  # also the test that expects the metric to fail
        ({"BAD": "1"}, 0, 3),  # min_pass_rate allows it
        ({"MARKED": "1"}, 1, 3),  # the mark makes the test a case
        ({"PLAIN": "1", "BAD": "1"}, 3, 3),
    ):
        outcome = run_tests(project, **results, **environment)
        assert outcome.exit_code == exit_code, outcome.output
        totals = outcome.result["totals"]
        assert (totals["cases"], totals["passed"]) == (4, passed), outcome.output
    missing = "1 failed test has no metric, so the results of deepeval lack them: test_bot.py::test_plain."
    assert any(missing in notice for notice in outcome.result["notices"])


def test_without_the_plugin_a_notice_says_that_plain_tests_are_unknown(project: Project) -> None:
    (project.root / "results").mkdir()
    outcome = run_tests(
        project, "-p", "no:scoregate.pytest_plugin", DEEPEVAL_RESULTS_FOLDER="results", PLAIN="1", BAD="1"
    )
    assert [each for each in outcome.result["notices"] if "install scoregate where the tests run" in each]
