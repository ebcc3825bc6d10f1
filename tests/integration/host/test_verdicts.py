"""Verdicts in the conditions that matter, through the command line and with real run folders."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.integration.host.conftest import Project, Ran

# Scores come from a file: for each evaluator and case a list of repeats, null where it returns None.
SUITE = """
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from scoregate.testing.models import BaseTestCase, BaseTestEvaluator, Evaluation, Threshold
from scoregate.testing.run import run_test_suite

stored = json.loads(Path("scores.json").read_text())


@dataclass
class Case(BaseTestCase):
    name: str

    def hash(self):
        return self.name


class StoredScores(BaseTestEvaluator):
    def __init__(self, name, threshold):
        self.name, self.threshold, self.seen = name, threshold, Counter()

    @property
    def id(self):
        return self.name

    def evaluate_test_case(self, test_case, output):
        scores = stored["scores"][self.name][test_case.name]
        score = scores[self.seen[test_case.name] % len(scores)]
        self.seen[test_case.name] += 1
        if score is None:
            return None
        return Evaluation(score=score, threshold=Threshold(gte=1) if self.threshold else None)


names = list(next(iter(stored["scores"].values())))
run_test_suite(
    id="support-bot",
    test_cases=[Case(name) for name in names],
    fn=lambda case: case.name,
    evaluators=[StoredScores(name, stored["threshold"]) for name in stored["scores"]],
)
"""
Scores = Sequence[float | Sequence[float | None] | None]


def scores_file(threshold: bool = False, **evaluators: Scores) -> str:
    """The file of the scores; a number is one trial, a list several."""
    scores = {
        name.replace("_", "-"): {
            f"case {index:03}": list(value) if isinstance(value, Sequence) else [value]
            for index, value in enumerate(all_of)
        }
        for name, all_of in evaluators.items()
    }
    return json.dumps({"scores": scores, "threshold": threshold})


def run_against(
    project: Project,
    base: str,
    run: str,
    *flags: str,
    settings: str = "min_pass_rate = 0\n",
    base_flags: Sequence[str] = (),
) -> Ran:
    project.write(".gitignore", "scoregate-out\nbase\nscores.json\n")
    project.write("scoregate.toml", settings)
    project.write("evals/demo.py", SUITE)
    project.write("scores.json", base)
    project.commit("base")
    project.scoregate("run", "--baseline", "none", *base_flags)
    shutil.copytree(project.root / "scoregate-out" / "run", project.root / "base")
    project.write("scores.json", run)
    project.write("notes.md", "changed")
    project.commit("change")
    return picture(project.scoregate("run", "--baseline", "base", *flags))


def picture(ran: Ran) -> Ran:
    """The comment is kept where SCOREGATE_KEEP_COMMENTS names a folder, to look at it."""
    if folder := os.environ.get("SCOREGATE_KEEP_COMMENTS"):
        name = os.environ["PYTEST_CURRENT_TEST"].split("::")[-1].split(" ")[0]
        Path(folder, f"{name}.md").write_text(ran.comment, encoding="utf-8")
        Path(folder, f"{name}.txt").write_text(ran.output, encoding="utf-8")
    return ran


def score_pairs(better: int, worse: int, equal: int) -> tuple[list[float], list[float]]:
    return [1.0] * better + [0.0] * worse + [1.0] * equal, [0.0] * better + [1.0] * worse + [1.0] * equal


def score_files(**evaluators: tuple[Sequence[float], Sequence[float]]) -> tuple[str, str]:
    """The base's scores and the run's."""
    base, run = ({name: sides[index] for name, sides in evaluators.items()} for index in (1, 0))
    return scores_file(**base), scores_file(**run)


def labels(ran: Ran) -> Mapping[str, str]:
    return {row["evaluator"]: row["label"] for row in ran.result["rows"]}


WORSE = {"accurate": score_pairs(2, 16, 102), "complete": score_pairs(1, 14, 105), "polite": score_pairs(5, 4, 111)}


def test_worse_rows_fail_the_gate(project: Project) -> None:
    """The first-time user's case: two rows are worse, and with `fail_on_regression` the run fails."""
    outcome = run_against(project, *score_files(**WORSE), "--fail-on-regression")
    assert labels(outcome) == {"accurate": "worse", "complete": "worse", "polite": "within noise"}
    assert outcome.exit_code == 1
    failed = {finding["evaluator"] for finding in outcome.result["findings"] if finding["conclusion"] == "failed"}
    assert failed == {"accurate", "complete"}


def test_worse_without_a_gate_is_shown_and_passes(project: Project) -> None:
    outcome = run_against(project, *score_files(**WORSE))
    assert (outcome.exit_code, labels(outcome)["accurate"]) == (0, "worse")
    assert "nothing here can fail" in outcome.comment
    assert "(significant)" not in outcome.comment


def test_improved_rows_fail_no_other_row(project: Project) -> None:
    better = {f"better_{index}": score_pairs(40, 0, 80) for index in range(6)}
    outcome = run_against(project, *score_files(null=score_pairs(4, 13, 103), **better), "--fail-on-regression")
    assert labels(outcome)["null"] == "within noise"
    assert {label for name, label in labels(outcome).items() if name != "null"} == {"better"}
    assert outcome.exit_code == 0


def test_scores_lost_to_none_are_never_green(project: Project) -> None:
    base = scores_file(accurate=[0.0] * 60 + [1.0] * 140)
    lost = scores_file(accurate=[None] * 60 + [1.0] * 140)
    outcome = run_against(project, base, lost, "--fail-on-regression")
    (row,) = outcome.result["rows"]
    assert (outcome.exit_code, row["label"], row["lost"]) == (3, "unmeasurable", {"none": 60})
    assert (row["mean"], row["base"], row["n"]) == (1.0, 1.0, 140)
    assert "60 of 200 cases lost their score: the scorer returned None" in outcome.comment
    free = project.scoregate("gate", str(outcome.out), "--baseline", "base")
    assert free.exit_code == 0, "without a gate nothing depends on it"


def test_a_few_scores_lost_are_shown(project: Project) -> None:
    outcome = run_against(
        project,
        scores_file(accurate=[1.0] * 200),
        scores_file(accurate=[None] * 3 + [1.0] * 197),
        "--fail-on-regression",
    )
    assert (outcome.exit_code, outcome.result["rows"][0]["lost"]) == (0, {"none": 3})
    assert "lost scores: 3 None" in outcome.comment


def test_an_evaluator_without_scores_is_never_green_without_a_base(project: Project) -> None:
    project.write("evals/demo.py", SUITE)
    project.write("scores.json", scores_file(accurate=[1.0] * 20, silent=[None] * 20))
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    assert "Scores are missing in support-bot · silent: no score of any case" in " ".join(outcome.output.split())


def test_a_limit_missed_within_noise_is_marked(project: Project) -> None:
    base, run = score_files(accurate=score_pairs(3, 8, 49))
    outcome = run_against(project, base, run, "--max-drop", "0.03")
    (row,) = outcome.result["rows"]
    assert (outcome.exit_code, row["label"], row["state"]) == (0, "within noise", "uncertain")
    assert "above the limit, within noise; about" in outcome.comment
    assert "🟡" in outcome.comment


@pytest.mark.parametrize(("confidence", "code"), [("", 1), ("pass_rate_confidence = 0.95\n", 0)])
def test_a_pass_rate_missed_within_noise_is_noted(project: Project, confidence: str, code: int) -> None:
    project.write("scoregate.toml", f"min_pass_rate = 0.9\n{confidence}")
    project.write("evals/demo.py", SUITE)
    project.write("scores.json", scores_file(threshold=True, accurate=[1.0] * 44 + [0.0] * 6))
    outcome = picture(project.scoregate("run"))
    assert outcome.exit_code == code
    assert "44 of 50 cases (88.0%), ±9.1% at 50 cases" in " ".join(outcome.output.split())


def test_pooled_runs_of_one_base_commit_raise_no_alarm(project: Project) -> None:
    """Five runs of the base against one of the change, at a pass rate of 98 %: nothing changed."""
    project.write(".gitignore", "scoregate-out\nbases\nscores.json\n")
    project.write("scoregate.toml", "min_pass_rate = 0\nfail_on_regression = true\n")
    project.write("evals/demo.py", SUITE)
    project.commit("base")
    (project.root / "bases").mkdir()
    for number in range(5):
        scores = [float(index not in (number, number + 20)) for index in range(100)]
        project.write("scores.json", scores_file(accurate=scores))
        project.scoregate("run", "--baseline", "none")
        (project.root / "scoregate-out").rename(project.root / "bases" / f"run-{number}")
    project.write("scores.json", scores_file(accurate=[1.0] * 100))
    outcome = picture(project.scoregate("run", "--baseline", "bases"))
    (row,) = outcome.result["rows"]
    assert (outcome.result["pooled"], row["n"], row["better"]) == (5, 100, 10)
    assert (outcome.exit_code, row["label"]) == (0, "within noise"), "the sign flip alone gives p = 0.002"
    assert "5 runs of this commit" in outcome.comment


def test_more_repeats_than_the_base_raise_no_alarm(project: Project) -> None:
    one = scores_file(accurate=[1.0] * 100)
    five = scores_file(accurate=[[1.0, 1.0, 0.0, 1.0, 1.0] if index % 10 == 0 else [1.0] for index in range(100)])
    outcome = run_against(project, one, five, "--fail-on-regression", "--repeats", "5")
    assert (outcome.exit_code, outcome.result["rows"][0]["label"]) == (0, "within noise")


def test_without_a_base_the_verdict_names_the_gates_that_were_not_applied(project: Project) -> None:
    project.write("scoregate.toml", "fail_on_regression = true\nmax_drop = 0.05\n")
    project.write("evals/demo.py", SUITE)
    project.write("scores.json", scores_file(threshold=True, accurate=[1.0] * 20))
    outcome = picture(project.scoregate("run"))
    assert outcome.exit_code == 0
    assert "max_drop and fail_on_regression not applied: there is no baseline" in " ".join(outcome.output.split())
    assert outcome.result["not_applied"] == ["max_drop", "fail_on_regression"]


def test_a_finished_run_is_gated_with_its_own_base(project: Project) -> None:
    outcome = run_against(project, *score_files(**WORSE))
    assert outcome.run["compared_with"]["folder"] == "base"
    second = project.scoregate("gate", str(outcome.out), "--fail-on-regression")
    assert second.exit_code == 1
    assert "worse" in second.output
    (project.root / "base").rename(project.root / "elsewhere")
    assert project.scoregate("gate", str(outcome.out), "--fail-on-regression").exit_code == 1, (
        "a newer run took its place"
    )
    shutil.rmtree(outcome.out / "earlier")
    gone = project.scoregate("gate", str(outcome.out), "--fail-on-regression")
    assert gone.exit_code == 3
    assert "isn't on this machine: name one with --baseline" in " ".join(gone.output.split())
    assert project.scoregate("gate", str(outcome.out)).exit_code == 0, "no gate needs it"
    assert project.scoregate("gate", str(outcome.out), "--fail-on-regression", "--baseline", "elsewhere").exit_code == 1
