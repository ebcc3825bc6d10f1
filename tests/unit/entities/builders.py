"""Tests and sets of them."""

from __future__ import annotations

from typing import Any

from scoregate.entities import Prompt, Test, TestSet


def make_question(content: str = "When do you open?", **fields: Any) -> Test:
    return Test(
        **{"category": "Support", "topic": "Hours", "behavior": "Answers", "prompt": Prompt(content=content), **fields}
    )


def make_conversation(goal: str = "Get a refund", **fields: Any) -> Test:
    return Test(**{"category": "Support", "topic": "Refunds", "behavior": "Helps", "goal": goal, **fields})


def make_test_set(name: str = "Opening Hours", *tests: Test, **fields: Any) -> TestSet:
    return TestSet(name=name, tests=list(tests or [make_question("a"), make_question("b")]), **fields)


def read_contents(test_set: TestSet) -> str:
    return "".join(test.prompt.content for test in test_set.tests or [] if test.prompt)
