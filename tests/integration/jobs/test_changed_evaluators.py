"""Evaluators or thresholds that a change makes easier: the verdict line reports it, and the base's policy fails it."""

from __future__ import annotations

import pytest
from tests.fakes.github import events
from tests.integration.host.conftest import SUITE
from tests.integration.jobs.world import Job, World

BODY = """
from scoregate.testing.models import BaseTestEvaluator, Evaluation, Threshold


class Scorer(BaseTestEvaluator):
    id = "EVALUATOR"

    def evaluate_test_case(self, test_case, output):
        return Evaluation(score=0.6, threshold=THRESHOLD)


run_test_suite(
    id="demo",
    test_cases=[Case(f"c{i}PREFIX", "x") for i in range(20)],
    fn=lambda case: case.input,
    evaluators=[Scorer()],
)
"""
BASE_THRESHOLD = "Threshold(gte=0.5)"


def source(*, threshold: str = BASE_THRESHOLD, evaluator: str = "scorer", prefix: str = "", body: str = BODY) -> str:
    comment_text = body.replace("EVALUATOR", evaluator).replace("THRESHOLD", threshold).replace("PREFIX", prefix)
    return SUITE + comment_text


CHANGES = {
    "no threshold": ({"threshold": "None"}, "with a lower threshold"),
    "lower": ({"threshold": "Threshold(gte=0.1)"}, "with a lower threshold"),
    "lower for new cases": ({"threshold": "Threshold(gte=0.1)", "prefix": "-new"}, "with a lower threshold"),
    "lower for one case": (
        {"threshold": "Threshold(gte=0.1 if test_case.input == 'c7' else 0.5)"},
        "with a lower threshold",
    ),
    "renamed": ({"evaluator": "another"}, "removed"),
    "its code": ({"body": BODY.replace("score=0.6", "score=0.1 * 6")}, "changed"),
}


def run_judged(world: World, base: str, change: dict[str, str]) -> Job:
    world.project.write("scoregate.toml", base)
    world.project.write("evals/demo.py", source())
    world.commit()
    world.push()
    world.branch()
    world.project.write("evals/demo.py", source(**change))
    world.commit()
    return world.job(events.pull_request(world.open_pull_request()))


@pytest.mark.parametrize("name", CHANGES)
def test_the_verdict_shows_it(world: World, name: str) -> None:
    change, message = CHANGES[name]
    job = run_judged(world, "", change)
    assert job.exit_code == 0, job.output
    (verdict,) = (line for line in " ".join(job.output.split()).split("✓ ") if line.startswith("scoregate:"))
    assert "scorers since the baseline:" in verdict
    assert message in verdict


@pytest.mark.parametrize("name", CHANGES)
def test_the_base_policy_fails_it(world: World, name: str) -> None:
    change, _ = CHANGES[name]
    job = run_judged(world, 'policy_from = "base"\n', change)
    assert job.exit_code == 1, job.output
    assert "A scorer isn't the baseline's in demo" in job.output


@pytest.mark.parametrize(
    "threshold", [BASE_THRESHOLD, "Threshold(gt=0.5)", "Threshold(gte=0.55)", "Threshold(gte=0.5, lt=0.9)"]
)
def test_an_equal_or_higher_threshold_is_no_change(world: World, threshold: str) -> None:
    job = run_judged(
        world, 'policy_from = "base"\nseverity = {evaluators_unchanged = "warn"}\n', {"threshold": threshold}
    )
    assert job.exit_code == 0, job.output
    assert "with a lower threshold" not in job.output


def test_the_base_can_relax_it(world: World) -> None:
    job = run_judged(
        world, 'policy_from = "base"\nseverity = {evaluators_unchanged = "warn"}\n', {"evaluator": "another"}
    )
    assert job.exit_code == 0, job.output
    assert "1 removed" in job.output
