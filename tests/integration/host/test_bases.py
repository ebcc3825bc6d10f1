"""Runs compared with a base: a stored run, or the suites of another commit."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
from tests.integration.host.conftest import Project, suite


def keep_run(project: Project, name: str) -> Path:
    target = project.root.parent / f"{project.root.name}-{name}"
    shutil.copytree(project.root / "scoregate-out" / "run", target)
    return target


def test_a_stored_run_is_a_base(project: Project) -> None:
    project.write("evals/demo.py", suite(good=30))
    project.scoregate("run")
    base = keep_run(project, "base")
    project.write("evals/demo.py", suite(good=30, fn="lambda case: case.input if '1' not in case.input else 'no'"))
    outcome = project.scoregate("run", "--baseline", str(base))
    assert outcome.exit_code == 1
    row = outcome.result["rows"][0]
    assert row["label"] == "worse"
    assert row["worse"] == 12
    assert len(outcome.result["newly_failing"]) == 12


def test_a_stored_run_is_judged_without_its_base(project: Project) -> None:
    project.write("scoregate.toml", "min_pass_rate = 0\n")
    project.write("evals/demo.py", suite(good=3))
    for _ in range(2):
        project.scoregate("run")
    report = json.loads(project.scoregate("report", "--json", "--baseline", "none").output)
    assert (report["base"], report["conclusion"]) == (None, "passed")
    assert project.scoregate("gate", "--baseline", "none").exit_code == 0
    gate = project.scoregate("gate", "--baseline", "none", "--fail-on-regression")
    assert gate.exit_code == 3, "a gate that compares isn't opened"


def test_the_base_runs_at_its_commit_and_leaves_no_files(project: Project) -> None:
    project.write(".gitignore", "__pycache__/\n")
    project.write("app.py", "def answer(case):\n    return case.input\n")
    project.write("evals/demo.py", suite("from app import answer", fn="answer", good=20))
    project.commit("first")
    project.git("checkout", "-qb", "change")
    project.write("app.py", "def answer(case):\n    return case.input if '1' not in case.input else 'no'\n")
    project.commit("worse")
    project.write("evals/untracked.txt", "mine")
    before = project.git("status", "--porcelain"), project.git("rev-parse", "HEAD")
    outcome = project.scoregate("run", "--baseline", "rerun")
    assert outcome.result["rows"][0]["worse"] == 11, outcome.output
    assert outcome.exit_code == 1
    after = project.git("status", "--porcelain", "--", ".", ":!scoregate-out"), project.git("rev-parse", "HEAD")
    assert after == before
    assert len(project.git("worktree", "list").splitlines()) == 1


def test_a_base_that_cannot_run_is_reported_first(project: Project) -> None:
    project.write("evals/demo.py", suite(good=1))
    project.commit("first")
    outcome = project.scoregate("run", "--baseline", "rerun:nowhere")
    assert outcome.exit_code == 2
    assert "rerun:nowhere is not a commit" in outcome.output
    assert not (outcome.out / "run").exists()


def test_an_evaluator_that_changed_is_not_comparable(project: Project) -> None:
    project.write("evals/demo.py", suite(good=20))
    project.scoregate("run")
    base = keep_run(project, "base")
    project.write("evals/demo.py", suite(good=20).replace("return output\n", "return output.strip()\n"))
    outcome = project.scoregate("run", "--baseline", str(base))
    assert outcome.result["rows"][0]["label"] == "not comparable"
    assert outcome.exit_code == 0


def test_power_of_a_finished_run_is_shown(project: Project) -> None:
    project.write("evals/demo.py", suite(good=30, bad=10))
    project.scoregate("run")
    outcome = project.scoregate("power", str(project.root / "scoregate-out"), "--drop", "0.1")
    assert outcome.exit_code == 0, outcome.output
    heading, row = outcome.output.splitlines()
    assert "for 0.1: cases" in heading
    assert row.split()[:4] == ["demo", "is-equals", "40", "1"]
    assert row.index("40") + len("40") == heading.index("cases") + len("cases"), "numbers stand on the right"


def test_a_finished_run_is_gated_compared_and_reported(project: Project) -> None:
    project.write("evals/demo.py", suite(good=9, bad=1))
    project.scoregate("run")
    run = str(project.root / "scoregate-out")
    assert project.scoregate("gate", run).exit_code == 1
    assert project.scoregate("gate", run, "--min-pass-rate", "0.5").exit_code == 0
    assert project.scoregate("compare", run, "--baseline", run).exit_code == 0
    assert project.scoregate("report", run, "--format", "junit").output.startswith("<?xml")
    assert "scoregate" in project.scoregate("report", run, "--format", "markdown").output


def test_a_missing_base_is_refused(project: Project) -> None:
    project.write("evals/demo.py", suite())
    outcome = project.scoregate("run", "--baseline", "nowhere")
    assert outcome.exit_code == 2
    assert "nowhere" in outcome.output


def damage_run(name: str, run: Path, lines: list[bytes]) -> None:
    """Spoil a stored run of thirty cases in the way that is named."""
    head, cases = run / "run.json", run / "cases.jsonl.gz"
    text = head.read_text()
    if name == "other suites":
        head.write_text(text.replace('"demo"', '"another"'))
    packed = {
        "twice": gzip.compress(b"\n".join([*lines, *lines])),
        "NaN": gzip.compress(b"\n".join(line.replace(b'"score":1.0', b'"score":NaN') for line in lines)),
        "garbage": gzip.compress(b"\n".join([*lines, b"\xff{", b"[]", b'{"suite":7,"hash":"x"}'])),
    }
    cases.write_bytes(packed.get(name, cases.read_bytes()))


def test_an_unreadable_base_is_refused_before_the_run(project: Project) -> None:
    project.write("evals/demo.py", suite(good=30))
    project.scoregate("run")
    base, run = keep_run(project, "base"), keep_run(project, "run")
    (base / "run.json").write_text("")
    shutil.rmtree(project.root / "scoregate-out")
    for command in (["run", "-q"], ["merge", str(run)], *([each, str(run)] for each in ("gate", "compare", "report"))):
        refusal = project.scoregate(*command, "--baseline", str(base))
        assert refusal.exit_code == 2, refusal.output
        assert "the baseline can't be read" in " ".join(refusal.output.split())
        assert not (project.root / "scoregate-out" / "result.json").exists()


@pytest.mark.parametrize(
    ("name", "message", "label"),
    [
        ("other suites", "another is gone", "new"),
        ("twice", "30 cases appear twice; the first one of each counts", "unchanged"),
        ("NaN", "30 of 30 pairs have an error in the baseline", "unmeasurable"),
        ("garbage", "3 lines are not valid cases", "unchanged"),
    ],
)
def test_a_damaged_base_is_reported_and_used_in_part(project: Project, name: str, message: str, label: str) -> None:
    project.write("evals/demo.py", suite(good=30))
    outcome = project.scoregate("run")
    base = keep_run(project, "base")
    damage_run(name, base, gzip.decompress((base / "cases.jsonl.gz").read_bytes()).splitlines())
    judged = project.scoregate("gate", str(outcome.out), "--baseline", str(base))
    assert judged.exit_code == (3 if name == "other suites" else 0)
    assert "Traceback" not in judged.output
    assert message in " ".join(judged.output.split())
    second = project.scoregate("report", str(outcome.out), "--baseline", str(base), "--format", "json")
    rows = json.loads(second.output)["rows"]
    assert [row["label"] for row in rows if row["label"] != "removed"][-1] == label


def test_reports_name_the_merge_request_of_another_ci(project: Project) -> None:
    project.write("evals/demo.py", suite())
    project.commit()
    project.git("checkout", "-q", "--detach")  # as in GitLab's jobs
    variables = {
        "GITLAB_CI": "true",
        "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "fix/hours",
        "CI_MERGE_REQUEST_IID": "12",
        "CI_JOB_URL": "https://gitlab.example.com/a/b/-/jobs/7",
    }
    outcome = project.scoregate("run", "--baseline", "none", **variables)
    assert outcome.run["branch"] == "fix/hours"
    printed = project.scoregate("report", "--format", "markdown", **variables).output
    for text in (outcome.comment, printed):
        assert "pull request 12 from <code>fix/hours</code>" in text
        assert '<a href="https://gitlab.example.com/a/b/-/jobs/7">full report</a>' in text
    assert "pull request 12" in (outcome.out / "report.html").read_text(encoding="utf-8")
