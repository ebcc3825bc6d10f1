"""What a run on one's own machine knows of those before it."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from tests.integration.host.conftest import Project, Ran, suite

from scoregate.features.history import deleted_runs

OTHER = suite(good=1).replace("id='demo'", "id='other'")


def means(ran: Ran) -> list[float | None]:
    history: dict[str, Any] = ran.run["history"]
    return [point and point[0] for point in history["suites"]["demo"]["scores"]["is-equals"]]


def run_with(project: Project, *arguments: str, good: int, bad: int = 0, **environment: str) -> Ran:
    project.write("evals/demo.py", suite(good=good, bad=bad))
    outcome = project.scoregate("run", *arguments, **environment)
    assert outcome.exit_code in (0, 1), outcome.output
    return outcome


def test_the_report_shows_earlier_runs_in_the_folder(project: Project) -> None:
    assert "history" not in run_with(project, good=1, bad=1).run
    assert means(run_with(project, good=3, bad=1)) == [0.5]
    last = run_with(project, good=4)
    assert means(last) == [0.5, 0.75]
    assert "last 2 runs: 0.500 … 0.750; now 1.000" in (last.out / "report.html").read_text("utf-8")
    outcome = project.scoregate("report", str(last.out / "run"), "--format", "html")
    assert "last 2 runs: 0.500 … 0.750; now 1.000" in outcome.output
    assert [past["took"]["pass_rate"] for past in last.result["history"]] == [0.5, 0.75]


def test_a_base_has_its_own_history(project: Project) -> None:
    run_with(project, good=1, bad=1)
    base = run_with(project, good=4)
    shutil.move(base.out, project.root / "base")
    assert means(run_with(project, "--baseline", "base", good=4)) == [0.5, 1.0]


def test_the_history_includes_runs_after_a_stored_base(project: Project) -> None:
    first = run_with(project, "--baseline", "none", good=1, bad=1)
    shutil.copytree(first.out, project.root / "base0")
    for bad in (3, 1):
        run_with(project, "--baseline", "base0", good=1, bad=bad)
    assert means(run_with(project, "--baseline", "base0", good=1)) == [0.5, 0.25, 0.5]
    assert means(run_with(project, good=1)) == [0.5, 0.25, 0.5, 1.0]


def test_runs_of_another_project_are_not_in_the_history_of_a_base(project: Project) -> None:
    base = run_with(project, good=1, bad=1)
    shutil.move(base.out, project.root / "base")
    project.write("evals/demo.py", OTHER)
    project.scoregate("run")
    assert means(run_with(project, "--baseline", "base", good=1)) == [0.5]


def test_a_rerun_base_uses_the_history_of_the_folder(project: Project) -> None:
    run_with(project, good=1, bad=1)
    project.commit()
    assert means(run_with(project, "--baseline", "rerun", good=4)) == [0.5]


def test_runs_of_another_project_are_no_history(project: Project) -> None:
    project.write("evals/demo.py", OTHER)
    project.scoregate("run")
    assert "history" not in run_with(project, "--baseline", "none", good=1).run


def test_a_secret_at_the_end_of_a_message_is_not_cut_into_pieces(project: Project) -> None:
    secret = "sk-live-0123456789abcdef"
    for _ in range(2):
        outcome = run_with(project, "-m", f"{'x' * 190}{secret}", good=1, MODEL_API_KEY=secret)
    for name in ("run/run.json", "report.html", "result.json"):
        assert "sk-live" not in (outcome.out / name).read_text("utf-8"), name
    assert outcome.run["history"]["runs"][0]["message"] == f"{'x' * 190}***"


def test_runs_stay_in_the_history_after_their_folders_are_deleted(project: Project) -> None:
    project.write("scoregate.toml", "keep_runs = 2")
    for _ in range(6):
        run_with(project, good=2)
    assert len(list(project.root.glob("scoregate-out/earlier/*/"))) == 2
    outcome = project.scoregate("history", "trend", "demo", "is-equals", "--format", "json").output
    assert outcome.count('"run"') == 6


def test_large_runs_are_not_kept_and_a_history_that_cant_be_written_is_a_warning(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("scoregate.toml", "keep_runs = 1")
    monkeypatch.setattr(deleted_runs, "_MOST_SCORES", 1)
    for _ in range(3):
        run_with(project, good=2)
    assert not (project.root / ".scoregate-cache/history.sqlite").exists()
    monkeypatch.undo()
    (project.root / ".scoregate-cache").mkdir(exist_ok=True)
    (project.root / ".scoregate-cache/history.sqlite").mkdir()
    outcome = run_with(project, good=2)
    assert outcome.exit_code == 0
    assert "runs that `keep_runs` deletes are not kept" in outcome.output
