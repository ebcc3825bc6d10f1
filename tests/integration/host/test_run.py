"""`scoregate run` in a repository of one's own."""

from __future__ import annotations

import gzip
import json

import pytest
from junitparser import JUnitXml
from tests.integration.host.conftest import Project, suite


def test_a_green_run_writes_every_report_and_exits_0(project: Project) -> None:
    project.write("evals/demo.py", suite())
    outcome = project.scoregate("run")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.result["conclusion"] == "passed"
    assert outcome.statuses == {"passed": 3}
    reports = {"comment.md", "junit.xml", "report.html", "result.json"}
    assert {path.name for path in outcome.out.iterdir()} == {"run", ".gitignore", *reports}
    assert "demo" in outcome.output
    junit = JUnitXml.fromfile(str(outcome.out / "junit.xml"))
    assert junit.failures == junit.errors == 0


def test_a_missed_threshold_fails_the_gate_and_names_the_case(project: Project) -> None:
    project.write("evals/demo.py", suite(bad=2))
    outcome = project.scoregate("run")
    assert outcome.exit_code == 1
    assert outcome.statuses == {"passed": 3, "failed": 2}
    assert "bad 0" in outcome.comment
    assert "bad 0" in outcome.output


def test_a_limit_in_the_settings_is_shown(project: Project) -> None:
    project.write("evals/demo.py", suite(good=9, bad=1))
    project.write("pyproject.toml", "[tool.scoregate]\nmin_pass_rate = 0.9\n")
    assert project.scoregate("run").exit_code == 0
    outcome = project.scoregate("run", "--min-pass-rate", "0.95")
    assert outcome.exit_code == 1
    assert "--min-pass-rate" in json.dumps(outcome.result)


def test_nothing_to_run_is_never_green(project: Project) -> None:
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    assert outcome.result["conclusion"] == "unmeasurable"


def test_a_filter_that_matches_nothing_is_never_green(project: Project) -> None:
    project.write("evals/demo.py", suite())
    assert project.scoregate("run", "--suite", "other*").exit_code == 3


def test_a_syntax_error_is_reported_and_others_run(project: Project) -> None:
    project.write("evals/demo.py", suite())
    project.write("evals/eval_broken.py", "from scoregate.testing.run import run_test_suite\nrun_test_suite(\n")
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    assert "eval_broken.py" in outcome.output
    assert outcome.statuses == {"passed": 3}


def test_one_id_in_two_files_runs_both_with_unique_names(project: Project) -> None:
    project.write("evals/one.py", suite())
    project.write("evals/two.py", suite(bad=1))
    outcome = project.scoregate("run")
    assert sorted(s["label"] for s in outcome.run["suites"]) == ["demo (evals/one.py)", "demo (evals/two.py)"]
    assert outcome.exit_code == 1


def test_pytest_runs_a_suite_in_a_test_function(project: Project) -> None:
    body = (
        suite().replace("run_test_suite(id=", "def test_demo():\n    assert run_test_suite(id=").rstrip() + ".passed\n"
    )
    project.write("evals/eval_demo.py", body)
    outcome = project.scoregate("run")
    assert outcome.exit_code == 0, outcome.output
    assert "pytest" in " ".join(outcome.run["scripts"][0]["command"])


def test_a_suite_can_import_its_project(project: Project) -> None:
    project.write("shop.py", "def answer(case):\n    return case.input\n")
    project.write("evals/demo.py", suite("from shop import answer", fn="answer"))
    assert project.scoregate("run").exit_code == 0


def test_commands_in_any_language_write_events(project: Project) -> None:
    script = r"""
    log="$SCOREGATE_EVENTS/1.jsonl"
    say() { printf '{"v":1,"suite":"shell","type":"%s"%s}\n' "$1" "$2" >> "$log"; }
    say suite_started
    say case_output ',"case":"a","output":"hi"'
    say scored ',"case":"a","evaluator":"polite","score":1,"threshold":{"gte":1}'
    say case_finished ',"case":"a"'
    say suite_finished
    """
    project.write("evals/shell.sh", script)
    project.write("scoregate.toml", '[[commands]]\nname = "shell"\nrun = "bash evals/shell.sh"\n')
    outcome = project.scoregate("run")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.run["suites"][0]["id"] == "shell"


def test_the_record_has_every_case_and_output(project: Project) -> None:
    project.write("evals/demo.py", suite(bad=1))
    outcome = project.scoregate("run", "--message", "first run")
    lines = gzip.decompress((outcome.out / "run" / "cases.jsonl.gz").read_bytes()).splitlines()
    cases = {case["hash"]: case for case in map(json.loads, lines)}
    assert cases["bad 0"]["output"] == "bad 0"
    assert outcome.run["message"] == "first run"
    assert outcome.run["complete"] is True


def test_repeats_and_max_cases_reach_the_suites(project: Project) -> None:
    project.write("evals/demo.py", suite(good=5))
    outcome = project.scoregate("run", "--repeats", "3", "--max-cases", "2")
    assert outcome.statuses == {"passed": 6}


def test_an_unknown_setting_is_refused_with_a_suggestion(project: Project) -> None:
    project.write("pyproject.toml", "[tool.scoregate]\nmin_pas_rate = 0.9\n")
    outcome = project.scoregate("run")
    assert outcome.exit_code == 2
    assert "min_pass_rate" in outcome.output
    assert "pyproject.toml" in outcome.output


def test_the_example_of_init_is_green(project: Project) -> None:
    assert project.scoregate("init").exit_code == 0
    outcome = project.scoregate("run")
    assert outcome.exit_code == 0, outcome.output
    assert (project.root / ".github" / "workflows" / "evals.yml").is_file()


def test_a_worse_score_fails_a_project_that_init_set_up(project: Project) -> None:
    source = (
        "import os\nfrom scoregate import evaluate\n"
        "def quality(output): return 0.9 if output == 'good' else 0.1\n"
        "evaluate('bot', data=[{'input': n} for n in range(12)], scorers=[quality],\n"
        "    task=lambda n: 'bad' if os.path.exists('changed') else 'good')\n"
    )
    project.write("evals/eval_bot.py", source)
    assert project.scoregate("init").exit_code == 0
    first = project.scoregate("run")
    assert (first.exit_code, "fail_on_regression not applied" in first.result["title"]) == (0, True), first.output
    project.write("changed", "")
    outcome = project.scoregate("run")
    assert outcome.exit_code == 1, outcome.output
    assert "Regression of bot · quality" in outcome.output


def test_init_names_the_branch_and_writes_no_example_next_to_a_suite(project: Project) -> None:
    project.git("branch", "-m", "trunk")
    project.write("checks/eval_mine.py", suite())
    assert project.scoregate("init").exit_code == 0
    assert "branches: [trunk]" in (project.root / ".github" / "workflows" / "evals.yml").read_text()
    assert not (project.root / "evals").exists()


@pytest.mark.parametrize(
    ("settings", "has_gate"),
    [
        ("min_pass_rate = 0.5\n", False),
        ('gates = "usual"\n', True),
        ('[suites."demo"]\nmax_drop = 0.1\n', True),
    ],
)
def test_init_says_if_the_settings_have_no_gate_on_changes(project: Project, settings: str, has_gate: bool) -> None:
    project.write("scoregate.toml", settings)
    outcome = project.scoregate("init")
    line = "The settings have no gate on changes, so no drop fails a run. Add:  fail_on_regression = true"
    assert (outcome.exit_code, line not in outcome.output) == (0, has_gate), outcome.output


@pytest.mark.parametrize("out", [".", "..", "/"])
def test_reports_replace_no_project_file(project: Project, out: str) -> None:
    project.write("evals/demo.py", suite(good=1))
    page = project.write("report.html", "mine")
    outcome = project.scoregate("run", "--out", out)
    assert outcome.exit_code == 2, outcome.output
    assert "--out" in outcome.output
    assert page.read_text(encoding="utf-8") == "mine"
    assert not (project.root / "run").exists()


def test_git_ignores_a_created_folder_but_no_existing_one(project: Project) -> None:
    project.write("evals/demo.py", suite(good=1))
    project.write("theirs/notes.md", "mine")
    project.commit()
    project.scoregate("run", CI="", GITHUB_ACTIONS="")
    assert project.git("status", "--porcelain") == ""
    project.scoregate("run", "--out", "theirs", CI="", GITHUB_ACTIONS="")
    assert not (project.root / "theirs" / ".gitignore").exists()
    job = project.scoregate("run", "--out", "job", CI="true")
    assert job.exit_code == 0, job.output
    assert not (project.root / "job" / ".gitignore").exists()


def test_without_suites_a_run_suggests_init(project: Project) -> None:
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    assert "`scoregate init`" in outcome.output
    assert "Not compared: there is no previous complete run; name a base" in outcome.output
    assert "Not compared" not in project.scoregate("run", "--baseline", "none").output
