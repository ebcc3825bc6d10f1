"""Suites of `evaluate` under the command line: found, run, compared with a base, and gated."""

from __future__ import annotations

import sys

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.host.conftest import Project

SUITE = """
from scoregate import evaluate
from scoregate.scorers import contains


def answer(question):
    ANSWER


def checks(output):
    return {"polite": True, "brief": 20 / len(output)}


evaluate(
    "opening-hours",
    data=[{"input": "When do you open?", "expected": "9"}, {"input": "Until when?", "expected": "17"}],
    task=answer,
    scorers=[contains(), lambda output: len(output) < 200, checks],
)
"""


def suite(answer: str) -> str:
    return SUITE.replace("ANSWER", answer)


def test_a_suite_is_found_run_and_compared_with_its_base(project: Project) -> None:
    project.write("evals/eval_hours.py", suite('return "We are open from 9 to 17."'))
    outcome = project.scoregate("list")
    assert "evals/eval_hours.py:14 [python] opening-hours" in outcome.output
    base = project.scoregate("run", "--baseline", "none")
    assert (base.exit_code, base.statuses) == (0, {"passed": 2})
    assert sorted(base.run["suites"][0]["evaluators"]) == [
        "checks.brief",
        "checks.polite",
        "contains",
        "len(output) < 200",
    ]
    base.out.rename(project.root / "base")
    project.write("evals/eval_hours.py", suite('return "We are open from 9 to 18."'))
    changed = project.scoregate("run", "--baseline", "base")
    assert changed.exit_code == 1
    assert "1 newly failing" in changed.output
    assert "missing: 17" in changed.comment
    assert "not comparable" not in changed.output, "the scorers have the same fingerprints"


LENGTH = """
from scoregate import evaluate
from scoregate.scorers import scorer
evaluate("s", data=[{"input": f"q {n}"} for n in range(20)], task=lambda input: "TEXT", scorers=[SCORER])
"""


@pytest.mark.parametrize(
    "old", ["lambda output: len( output )<9", "scorer(lambda output: len(output) < 9, name='len( output )<9')"]
)
def test_a_formatter_hides_no_regression(project: Project, old: str) -> None:
    """Neither with a base of this version, nor with one in which the name of a lambda is its source."""
    project.write("scoregate.toml", "min_pass_rate = 0\nfail_on_regression = true\n")
    project.write("evals/eval_s.py", LENGTH.replace("TEXT", "ok").replace("SCORER", old))
    base = project.scoregate("run", "--baseline", "none")
    name = "len( output )<9" if "name=" in old else "len(output) < 9"
    assert list(base.run["suites"][0]["evaluators"]) == [name]
    base.out.rename(project.root / "base")
    new = LENGTH.replace("TEXT", "much too long").replace("SCORER", "lambda output: (len(output) < 9)")
    project.write("evals/eval_s.py", new)
    changed = project.scoregate("run", "--baseline", "base")
    assert (changed.exit_code, list(changed.run["suites"][0]["evaluators"])) == (1, ["len(output) < 9"])
    assert "20 newly failing" in changed.output
    assert "not comparable" not in changed.output


def test_a_suite_that_measures_nothing_is_never_green(project: Project) -> None:
    project.write("evals/eval_hours.py", suite('raise RuntimeError("no line")'))
    broken = project.scoregate("run", "--baseline", "none")
    assert (broken.exit_code, broken.statuses) == (3, {"errored": 2})
    project.write(
        "evals/eval_hours.py",
        suite('return "From 9, every day of the week."').replace('"expected": "17"', '"expected": "9", "id": []'),
    )
    invalid = project.scoregate("run", "--baseline", "none")
    assert (invalid.exit_code, invalid.statuses) == (3, {"passed": 1})
    assert "case 2: its id must be a text or a whole number, not []" in " ".join(invalid.output.split())


def test_two_suites_with_one_name_are_never_green(project: Project) -> None:
    good = suite('return "We are open from 9 to 17."')
    project.write("evals/eval_hours.py", good)
    assert project.scoregate("run").exit_code == 0
    project.write("evals/eval_hours.py", good + good)
    twice = project.scoregate("run")
    assert twice.exit_code == 3
    message = "a suite with this name ran before (evals/eval_hours.py:14); give each a name of its own, or pass several"
    assert message in " ".join(twice.output.split())
    variants = good.replace("task=answer", "task=[answer]")
    project.write("evals/eval_hours.py", good + variants)
    assert project.scoregate("run", "--baseline", "none").exit_code == 0


PAIRWISE = """
from scoregate import evaluate
from scoregate.scorers import contains, pairwise

evaluate("demo", data=["a", "b"], task=lambda text: f"OUTPUT for {text}", scorers=SCORERS)
"""


def test_outputs_are_compared_with_those_of_the_base_run(project: Project) -> None:
    def write(output: str, scorers: str) -> None:
        project.write("evals/eval_demo.py", PAIRWISE.replace("OUTPUT", output).replace("SCORERS", scorers))

    with OpenAIServer.start() as server:
        server.answers("", {"reason": "x", "answer": "Equal"})
        write("old", "pairwise()")
        first = project.scoregate("run", "--baseline", "none", "--out", "before", **server.environment)
        assert first.exit_code == 3
        assert "a battle needs the output of a run before it" in first.output
        write("old", '[contains("for"), pairwise()]')
        mixed = project.scoregate("run", "--baseline", "none", "--out", "mixed", **server.environment)
        assert (mixed.exit_code, server.asked()) == (0, [])
        assert "pairwise skips cases of which the baseline has no output" in mixed.output
        write("new", '[contains("for"), pairwise()]')
        outcome = project.scoregate("run", "--baseline", "mixed", **server.environment)
        assert outcome.exit_code == 0, outcome.output
        assert outcome.run["suites"][0]["means"] == {"contains for": 1, "pairwise": 0.5}
        assert len(server.asked()) == 4, "each pair in both orders"


def test_a_suite_runs_under_exec(project: Project) -> None:
    project.write("evals/eval_hours.py", suite('return "We are open from 9 to 17."'))
    outcome = project.scoregate("exec", "--baseline", "none", "--", sys.executable, "evals/eval_hours.py")
    assert (outcome.exit_code, outcome.statuses) == (0, {"passed": 2})
