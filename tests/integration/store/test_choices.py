"""Manual corrections, checked against the choices of the last run's judge."""

from __future__ import annotations

import json
import sys

import pytest
from tests.integration.store.conftest import Project

JUDGE = {"id": "tone", "choices": [{"value": 1, "name": "Kind"}, {"value": 0.5}, {"value": 0, "name": "Rude"}]}
TELL = """
import json, os, pathlib, sys
events = [{{"type": "suite_started", "suite": "demo", "evaluators": {evaluators}}}]
events += [{{"type": "case_started", "suite": "demo", "case": "a"}}]
events += [{{"type": "scored", "suite": "demo", "case": "a", "evaluator": "tone", "score": 1}}]
events += [{{"type": "case_finished", "suite": "demo", "case": "a"}}, {{"type": "suite_finished", "suite": "demo"}}]
lines = "".join(json.dumps(event) + chr(10) for event in events)
(pathlib.Path(os.environ["SCOREGATE_EVENTS"]) / "log.jsonl").write_text(lines)
"""


def run_suite(project: Project, *evaluators: object) -> None:
    (project.root / "tell.py").write_text(TELL.format(evaluators=list(evaluators)))
    outcome = project.scoregate("exec", "--baseline", "none", "--", sys.executable, "tell.py")
    # an evaluator that is declared and scores nothing leaves a run unmeasurable, and its record complete
    assert outcome.returncode in (0, 3), outcome.stderr


def add(project: Project, original: str, score: str) -> tuple[int, str]:
    arguments = ("--original", original, "--score", score, "--output", "Hi.")
    outcome = project.scoregate("overrides", "add", "tone", *arguments)
    return outcome.returncode, outcome.stdout + outcome.stderr


def stored_scores(project: Project) -> list[float]:
    content = json.loads(project.scoregate("overrides", "list", "--json").stdout)
    return sorted(item["override_score"] for item in content)


def test_an_impossible_choice_is_refused(project: Project) -> None:
    run_suite(project, JUDGE)
    code, output = add(project, "1", "0.3")
    assert code == 2
    assert "0.3 is not among the choices of tone: 1 (Kind), 0.5, 0 (Rude)" in " ".join(output.split())
    assert stored_scores(project) == []
    assert add(project, "1", "0.5")[0] == 0
    assert stored_scores(project) == [0.5]


def test_a_score_of_older_choices_is_imported_with_a_note(project: Project) -> None:
    run_suite(project, JUDGE)
    code, output = add(project, "0.8", "0.3")
    assert code == 0
    assert "some corrected scores are not: 0.8" in " ".join(output.split())
    assert stored_scores(project) == [0.3]


@pytest.mark.parametrize("name", ["a.csv", "-"])
def test_an_invalid_file_imports_nothing(project: Project, name: str) -> None:
    run_suite(project, JUDGE)
    scores = (0, 0.7, 0.5, 0.2)
    fields = [[{"id": "output", "name": "output", "value": str(score)}] for score in scores]
    rows = zip(scores, fields, strict=True)
    items = (
        {"original_score": 1, "override_score": score, "output_fields": output_fields} for score, output_fields in rows
    )
    lines = "".join(f"{json.dumps(item)}\n" for item in items)
    table = "original_score,override_score,output\n" + "".join(f"1,{score},said {score}\n" for score in scores)
    (project.root / "a.csv").write_text(table)
    outcome = project.scoregate("overrides", "import", "tone", name, text=lines.encode())
    assert outcome.returncode == 2
    text = " ".join(outcome.stderr.split())
    assert "number 2: score: " in text
    assert "number 4:" in text
    assert "number 3:" not in text
    assert stored_scores(project) == []


@pytest.mark.parametrize("evaluators", [[{"id": "tone"}], [{"id": "other", "choices": JUDGE["choices"]}], None])
def test_unknown_choices_allow_any_score(project: Project, evaluators: list[object] | None) -> None:
    if evaluators is not None:
        run_suite(project, *evaluators)
    code, output = add(project, "1", "0.3")
    assert (code, "chooses" in output) == (0, False)
    assert stored_scores(project) == [0.3]
