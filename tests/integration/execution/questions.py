"""Tests, metrics and sets, as short as they can be."""

from __future__ import annotations

from typing import Any

from scoregate.entities import Prompt, Test, TestSet
from scoregate.metrics import metric


def ask(content: str = "When do you open?", **fields: Any) -> Test:
    """A question that the service repeats."""
    return Test(
        **{"category": "Support", "topic": "Hours", "behavior": "Answers", "prompt": Prompt(content=content), **fields}
    )


def talk(goal: str = "Learn the hours", **fields: Any) -> Test:
    return Test(**{"category": "Support", "topic": "Hours", "behavior": "Remembers", "goal": goal, **fields})


def push_test_set(*tests: Test, **fields: Any) -> TestSet:
    test_set = TestSet(name="Safety Evaluation", tests=list(tests), **fields)
    test_set.push()
    return test_set


def results(run: dict[str, Any]) -> dict[str, Any]:
    """What was kept of a run, by what was asked."""
    from scoregate.entities import TestRun, Tests

    test_results = TestRun(id=run["test_run_id"]).get_test_results()
    prompts = {test.id: test.prompt.content if test.prompt else test.test_configuration.goal for test in Tests.all()}
    return {prompts[each.test_id]: each for each in test_results}


@metric("heard", "binary")
def heard(input: str, output: str) -> dict[str, Any]:  # noqa: A002
    """Whether the service repeats the input."""
    return {"score": input in output, "reason": output}


@metric("never", "binary")
def never(input: str, output: str) -> dict[str, Any]:  # noqa: A002, ARG001
    return {"score": False}
