"""Scores that no threshold judges: the reports list the largest drops with input and output."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.integration.host.conftest import Project, Ran, project

__all__ = ["project"]
THRESHOLD = {"gte": 0.5}


def run(project: Project, scores: dict[str, list[float]], *arguments: str, answer: str, **fields: object) -> Ran:
    """Run a suite with a score of each case, or several of its trials."""
    events = [{"type": "suite_started", "evaluators": [{"id": "helpful"}, {"id": "words", "scale": [0, 500]}]}]
    for case, trials in scores.items():
        for repeat, score in enumerate(trials):
            place = {"case": case, "repeat": repeat}
            events += [
                {"type": "case_started", **place, "input": f"input of {case} <b>@x</b>"},
                {"type": "case_output", **place, "output": f"{answer} {case}\nBye."},
                {
                    "type": "scored",
                    **place,
                    "evaluator": "helpful",
                    "score": score,
                    "metadata": {"reason": "r"},
                    **fields,
                },
                {"type": "scored", **place, "evaluator": "words", "score": 100},
                {"type": "case_finished", **place},
            ]
    events.append({"type": "suite_finished"})
    lines = "".join(f"{json.dumps({'suite': 's', **event})}\n" for event in events)
    project.write("log.jsonl", lines)
    return project.scoregate("exec", *arguments, "--", "sh", "-c", 'cp log.jsonl "$SCOREGATE_EVENTS/x.jsonl"')


def run_compared(project: Project, scores: dict[str, list[float]], *arguments: str, **fields: object) -> Ran:
    run(project, {case: [0.9] for case in scores}, "--baseline", "none", answer="yes", **fields)
    base = project.root.parent / "base"
    shutil.rmtree(base, ignore_errors=True)
    shutil.copytree(project.root / "scoregate-out" / "run", base)
    return run(project, scores, "--baseline", str(base), *arguments, answer="no", **fields)


def drops(text: str) -> list[str]:
    """The cases in the table of the comment."""
    section = text.partition("scores without a threshold</summary>")[2].partition("</details>")[0]
    return [
        line.split("</code>")[0].partition("<code>")[2] for line in section.splitlines() if line.startswith("| <code>")
    ]


def test_the_largest_drops_come_with_input_and_output(project: Project) -> None:
    scores = {f"c{number:02}": [0.9 - number / 20] for number in range(14)} | {"up": [1.0], "twice": [0.9, 0.1]}
    outcome = run_compared(project, scores)
    assert outcome.exit_code == 0, outcome.output
    assert drops(outcome.comment)[:3] == ["c13", "c12", "c11"]
    assert len(drops(outcome.comment)) == 10
    assert "0.9 → 0.25 |" in outcome.comment
    assert "input of c13 <b>@x</b>\n```" in outcome.comment
    assert "```diff\n- yes c13\n+ no c13\n  Bye.\n```" in outcome.comment
    case = outcome.output.partition("↓ c13  s\n")[2].partition("↓")[0]
    assert "yes c13" in case
    assert "    helpful  0.9 → 0.25  reason: r\n" in case
    outcome = run_compared(project, {"one": [0.9], "twice": [0.9, 0.1]})
    assert drops(outcome.comment) == ["twice"]
    assert "0.9 → 0.5 |" in outcome.comment, "the mean of its trials"


def test_scores_with_thresholds_hidden_outputs_and_new_suites_are_not_listed(project: Project) -> None:
    outcome = run_compared(project, {"a": [0.6]}, threshold=THRESHOLD)
    assert "largest drop" not in outcome.comment
    outcome = run_compared(project, {"a": [0.6]}, "--show-outputs", "none")
    assert drops(outcome.comment) == ["a"]
    assert "input of" not in outcome.comment
    assert "no a" not in outcome.comment
    assert "largest drop" not in run(project, {"a": [0.1]}, "--baseline", "none", answer="no").comment


def test_a_custom_scale_is_shown(project: Project, tmp_path: Path) -> None:
    words = {"type": "scored", "suite": "s", "case": "a", "evaluator": "words"}
    for value, baseline in ((100, "none"), (40, str(tmp_path / "base"))):
        events = [
            {"type": "suite_started", "suite": "s", "evaluators": [{"id": "words", "scale": [0, 500]}]},
            {**words, "score": value},
            {"type": "case_finished", "suite": "s", "case": "a"},
            {"type": "suite_finished", "suite": "s"},
        ]
        project.write("log.jsonl", "".join(f"{json.dumps(event)}\n" for event in events))
        command = ["sh", "-c", 'cp log.jsonl "$SCOREGATE_EVENTS/x.jsonl"']
        outcome = project.scoregate("exec", "--baseline", baseline, "--", *command)
        if baseline == "none":
            shutil.copytree(outcome.out / "run", tmp_path / "base")
    assert "| 100 → 40 |" in outcome.comment
