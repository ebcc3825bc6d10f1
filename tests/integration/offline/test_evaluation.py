"""`client.evaluation.run`: examples past judges, without a test config."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.offline import judges
from tests.unit.judges import graders

from scoregate import Client
from scoregate.datasets import Example
from scoregate.errors import JudgmentTestError, JudgmentValidationError

EXAMPLES = [
    Example.create(input=f"question {number}", output=f"answer {number}", expected="answer 1", stars=number, tone="odd")
    for number in (1, 2)
]


def test_code_judges_and_stored_judges_mix(client: Client) -> None:
    rows = client.evaluation.create().run(EXAMPLES, [judges.Matches, graders.Starred(), "helpfulness"], "now")
    scores = {row.data_object["input"]: {data.name: data.value for data in row.scorers_data} for row in rows}
    assert scores == {
        "question 1": {"helpfulness": "Yes", "Matches": "Yes", "stars": 1.0},
        "question 2": {"helpfulness": "Yes", "Matches": "No", "stars": 2.0},
    }
    by_id = {row.data_object.example_id: row.data_object for row in rows}
    assert by_id == {example.example_id: example for example in EXAMPLES}
    assert sorted((row.data_object["input"], row.success) for row in rows) == [
        ("question 1", True),
        ("question 2", False),
    ]


def test_assert_test_raises(client: Client, server: OpenAIServer) -> None:
    with pytest.raises(JudgmentTestError, match=r"for 1 example\(s\): \[2\]"):
        client.evaluation.run(EXAMPLES, [judges.Matches], assert_test=True)
    assert client.evaluation.run(EXAMPLES[:1], [judges.Matches], assert_test=True)[0].success is True
    assert server.asked() == []


def test_a_failed_judge_fails_its_row(client: Client) -> None:
    with pytest.raises(JudgmentTestError):
        client.evaluation.run(EXAMPLES, [judges.Broken()], assert_test=True)


@pytest.mark.parametrize(
    ("examples", "scorers", "error"),
    [
        ([], [judges.Matches], JudgmentValidationError),
        (EXAMPLES, [], JudgmentValidationError),
        (EXAMPLES, ["nobody"], JudgmentValidationError),
        (EXAMPLES, [graders.Starred], JudgmentValidationError),
        (EXAMPLES, [judges.Matches, judges.Matches], JudgmentValidationError),
        ([{"input": "a"}], [judges.Matches], TypeError),
        (EXAMPLES, "helpfulness", TypeError),
    ],
)
def test_invalid_calls_are_refused(client: Client, examples: Any, scorers: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        client.evaluation.run(examples, scorers, assert_test=True)
