"""Impossible amounts are dropped with a notice; the reports are never lost."""

from __future__ import annotations

import json

import pytest
from tests.integration.host.conftest import SUITE, Project

SUITE_WITH_USAGE = (
    SUITE
    + """
from scoregate.kernel.types.evaluation import Usage
from scoregate.testing.models import BaseTestEvaluator, Evaluation, Threshold


class Costly(BaseTestEvaluator):
    id = "costly"

    def evaluate_test_case(self, test_case, output):
        usage = USAGE if test_case.input == "c3" else Usage(input_tokens=10, cost=0.01)
        return Evaluation(score=1, threshold=Threshold(gte=1), usage=usage)


run_test_suite(
    id="demo",
    test_cases=[Case(f"c{i}", "x") for i in range(20)],
    fn=lambda case: case.input,
    evaluators=[Costly()],
)
"""
)
WRONG = {
    "Usage(input_tokens=-5)": "input_tokens = -5 is not a possible count",
    "Usage(output_tokens=10**20)": "output_tokens = a number of 67 bits is not a possible count",
    "Usage(cached_tokens=-1)": "cached_tokens = -1",
    "Usage(cost=-1000.0)": "cost = -1000 is not a possible cost",
}


@pytest.mark.parametrize("usage", WRONG)
def test_an_impossible_usage_is_dropped_with_a_notice(project: Project, usage: str) -> None:
    project.write("evals/demo.py", SUITE_WITH_USAGE.replace("USAGE", usage))
    outcome = project.scoregate("run", "--max-cost", "0.1")
    assert outcome.exit_code == 1, outcome.output
    assert "$0.19" in outcome.output
    assert any(WRONG[usage] in notice and "'c3'" in notice for notice in outcome.run["notices"])
    assert {path.name for path in outcome.out.iterdir()} >= {"report.html", "comment.md", "junit.xml", "result.json"}
    assert outcome.statuses == {"passed": 20}
    for command in (["report", "scoregate-out"], ["gate", "scoregate-out"]):
        assert project.scoregate(*command).exit_code in (0, 1)


EVENTS = """
import json, os
log = open(os.path.join(os.environ["SCOREGATE_EVENTS"], "demo.jsonl"), "a")
say = lambda type, **event: log.write(json.dumps({"suite": "demo", "type": type, **event}) + "\\n")
say("suite_started")
for number in range(5):
    say("case_started", case=f"c{number}")
    say("case_output", case=f"c{number}", output=1, duration_ms=DURATION if number == 3 else 10.0)
    say("scored", case=f"c{number}", evaluator="e", score=1, threshold={"gte": 1})
    say("case_finished", case=f"c{number}")
say("suite_finished", duration_s=-1)
log.close()
"""


@pytest.mark.parametrize("duration", ["-5.0", "-1e308"])
def test_a_negative_duration_is_dropped_with_a_notice(project: Project, duration: str) -> None:
    project.write("events.py", EVENTS.replace("DURATION", duration))
    outcome = project.scoregate("exec", "--", "python", "events.py")
    assert outcome.exit_code == 0, outcome.output
    notices = [notice for notice in outcome.run["notices"] if "its duration is left out" in notice]
    assert len(notices) == 2
    assert "'c3'" in notices[0]


def test_many_notices_are_counted(project: Project) -> None:
    project.write(
        "events.py", EVENTS.replace("DURATION if number == 3 else 10.0", "-1").replace("range(5)", "range(50)")
    )
    outcome = project.scoregate("exec", "--", "python", "events.py")
    assert outcome.exit_code == 0, outcome.output
    assert "31 more numbers of cases are ignored: they are not valid" in outcome.run["notices"]
    assert len(outcome.run["notices"]) < 25
    assert json.loads((outcome.out / "result.json").read_text())["conclusion"] == "passed"
