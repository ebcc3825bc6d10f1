"""`scoregate compare --variants`: the rankings of a stored run, as text and as JSON."""

from __future__ import annotations

import json

from tests.integration.host.conftest import Project, suite

TASKS = """
from scoregate import evaluate
from scoregate.scorers import contains

rows = [{"input": str(at), "expected": "9"} for at in range(40)]
evaluate(
    "hours",
    data=rows,
    task={"good": lambda input: "9", "same": lambda input: "at 9", "bad": lambda input: "9" if input == "3" else "10"},
    scorers=[contains(), lambda output: len(output) < 4],
)
"""
GRID = """
from scoregate.testing.models import BaseTestEvaluator, Evaluation
from scoregate.testing.run import grid_search_ctx, run_test_suite


class Share(BaseTestEvaluator):
    id = "share"

    def evaluate_test_case(self, test_case, output):
        return Evaluation(score=output)


def fn(test_case):
    return (test_case["n"] % 5 + grid_search_ctx()["k"]) / 10


run_test_suite(
    id="grid",
    test_cases=[{"n": n} for n in range(12)],
    fn=fn,
    evaluators=[Share()],
    test_case_hash=["n"],
    grid_search_params={"k": [1, 3], "model": ["small"]},
)
"""


def test_the_variants_of_the_last_run_are_ranked(project: Project) -> None:
    project.write("evals/eval_hours.py", TASKS)
    project.write("evals/eval_grid.py", GRID)
    outcome = project.scoregate("run", "--baseline", "none")
    assert "variants of hours · contains" in outcome.output
    listing = project.scoregate("compare", "--variants")
    assert listing.exit_code == 0
    lines = listing.output.splitlines()
    offset = lines.index("variants of hours · len(output) < 4")  # which differs by 1, and contains by 0.975
    assert [line.split()[1:4] for line in lines[offset + 2 : offset + 5]] == [
        ["1–2", "good", "1.000"],
        ["1–2", "bad", "1.000"],
        ["3", "same", "0.000"],
    ]
    assert lines[offset + 5].startswith("  good and bad can't be distinguished at 40 cases. It takes about ")
    assert lines[offset + 5].endswith("to detect a difference of 0.05.")
    assert lines[offset + 6].startswith(
        "variants of hours · contains  good and same can't be distinguished at 40 cases."
    )
    offset = lines.index("variants of grid · share")
    assert [line.split()[1:3] for line in lines[offset + 2 : offset + 4]] == [["1", "k=3,"], ["2", "k=1,"]]
    full = project.scoregate("compare", "--variants", "-v", "--difference", "0.2").output
    assert "variants of hours · contains\n" in full
    assert "to detect a difference of 0.2." in full
    by_default = json.loads(project.scoregate("compare", "scoregate-out", "--variants", "--json", "-q").output)
    rankings = {(ranking["suite"], ranking["evaluator"]): ranking for ranking in by_default["variants"]}
    assert rankings["hours", "contains"]["candidates"] == ["good", "same"]
    assert rankings["grid", "share"]["best"] == "k=3, model=small"
    stored = json.loads((project.root / "scoregate-out" / "result.json").read_text(encoding="utf-8"))
    assert stored["variants"] == by_default["variants"]


def test_invalid_use_is_explained(project: Project) -> None:
    project.write("evals/eval_demo.py", suite(good=2, bad=1))
    project.scoregate("run", "--baseline", "none")
    expected = {
        (): "there is no earlier run to compare with",
        ("--variants",): "has no variants with scores",
        ("--variants", "--baseline", "scoregate-out"): "--variants and --baseline exclude each other",
        ("--baseline", "scoregate-out", "--difference", "0.1"): "--difference needs --variants",
    }
    for options, message in expected.items():
        ended = project.scoregate("compare", *options)
        assert (ended.exit_code, message in ended.output) == (2, True), ended.output


def test_a_run_is_compared_with_the_previous(project: Project) -> None:
    project.write("evals/eval_demo.py", suite(good=2, bad=1))
    project.scoregate("run", "--baseline", "none")
    project.scoregate("run")
    ended = project.scoregate("compare")
    assert (ended.exit_code, "0 newly failing" in ended.output) == (0, True), ended.output
