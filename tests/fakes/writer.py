"""A model that writes tests: as many as a question asks for, all of them different."""

from __future__ import annotations

import re
from typing import Any

from tests.fakes.openai import OpenAIServer, Question

BATCH = r"Yours is batch (\d+):"
NAMED = {"name": "Refunds", "description": "What customers ask about refunds.", "short_description": "Refunds"}


def answer_with_tests(server: OpenAIServer) -> None:
    """Make the model answer with tests, and with names of test sets."""
    server.answers(BATCH, write_tests)
    server.answers("Title Case", NAMED)


def write_tests(question: Question) -> dict[str, Any]:
    """The answer: as many tests as the question asks for, with the names that it allows."""
    batch, count = number_of(question), size_of(question)
    return {"tests": [make_test(f"{batch}-{each}", question) for each in range(1, count + 1)]}


def make_test(label: str, question: Question) -> dict[str, Any]:
    """A test of the type that the question asks for."""
    allowed = re.search(r"Every behavior is one of these.*?\n- (.*)", question.last)
    names = {"behavior": allowed[1] if allowed else "Refunds by the rules", "category": "Support", "topic": "Refunds"}
    if "test_configuration_goal" in str(question.schema):
        return {
            **names,
            "test_configuration_goal": f"Get refund {label}",
            "test_configuration_instructions": "Insist twice",
            "test_configuration_restrictions": "No promises",
            "test_configuration_scenario": "Shoes that were worn",
            "test_configuration_min_turns": 2,
            "test_configuration_max_turns": 6,
        }
    return {
        **names,
        "prompt_content": f"Where is refund {label}?",
        "prompt_expected_response": "On its way.",
        "prompt_language_code": "en",
    }


def number_of(question: Question) -> int:
    """The number of the batch."""
    match = re.search(BATCH, question.last)
    assert match is not None
    return int(match[1])


def size_of(question: Question) -> int:
    """How many tests it asks for."""
    return int(re.findall(r"^Write (\d+) tests?,", question.last, re.MULTILINE)[-1])
