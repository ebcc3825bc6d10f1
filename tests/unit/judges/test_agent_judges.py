"""Prompt judges with the arguments of judgeval are judges like all others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scoregate.client import Client
from scoregate.errors import JudgmentConflictError, JudgmentValidationError
from scoregate.judges import AgentJudges, BinaryResponse, Judge


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(store=tmp_path)


@pytest.fixture
def agent_judges(client: Client) -> AgentJudges:
    return client.agent_judges


def test_a_judge_is_created_and_updated(client: Client, agent_judges: AgentJudges) -> None:
    created = agent_judges.create(
        name="helpful",
        prompt="{{input}}?",
        score_type="binary",
        model="openai/gpt-4o",
        reasoning_level="high",
        description="of the version",
    )
    assert (created.name, created.prompt, created.score_type, created.model) == (
        "helpful",
        "{{input}}?",
        "binary",
        "openai/gpt-4o",
    )
    assert (created.major_version, created.minor_version, created.description) == (0, 0, "of the version")
    stored = client.judges.get("helpful")
    assert stored is not None
    assert (stored.id, stored.version) == (created.judge_id, "0.0")
    updated = agent_judges.update(judge_id=created.judge_id, prompt="{{input}}!", judge_description="for people")
    assert (updated.judge_id, updated.prompt, updated.minor_version) == (created.judge_id, "{{input}}!", 1)
    assert updated.description == updated.judge_description == "for people"
    assert agent_judges.update(judge_id=created.judge_id, description="").description is None
    with pytest.raises(JudgmentConflictError):
        agent_judges.create(name="helpful", prompt="x", score_type="binary")


def test_categories_have_names_and_numbers_have_a_scale(client: Client, agent_judges: AgentJudges) -> None:
    categories = [{"name": "good", "description": "fine"}, {"name": "bad", "description": "", "score": 0}]
    tone = agent_judges.create(name="tone", prompt="x", score_type="categorical", categories=categories)
    assert tone.categories == [{"name": "good", "description": "fine"}, {"name": "bad", "description": ""}]
    stored = client.judges.get("tone")
    assert stored is not None
    assert [(each.value, each.score) for each in stored.categories] == [("good", None), ("bad", 0)]
    kept = agent_judges.update(judge_id=tone.judge_id, prompt="y")
    assert (kept.categories, kept.prompt) == (tone.categories, "y")
    stars = agent_judges.create(name="stars", prompt="x", score_type="numeric")
    assert (stars.min_score, stars.max_score, stars.categories) == (0, 1, None)
    assert agent_judges.update(judge_id="stars", max_score=5).max_score == 5


def test_versions_follow_each_other(agent_judges: AgentJudges) -> None:
    judge = agent_judges.create(name="j", prompt="first", score_type="binary").judge_id

    def update(**arguments: Any) -> tuple[str, int | None, int | None]:
        created = agent_judges.update(judge_id=judge, **arguments)
        return created.prompt, created.major_version, created.minor_version

    assert update(prompt="second") == ("second", 0, 1)
    assert update(prompt="third", target_major_version=0, target_minor_version=2) == ("third", 0, 2)
    assert update(prompt="fourth", target_major_version=1) == ("fourth", 1, 0)
    assert update(source_major_version=0, source_minor_version=0) == ("first", 1, 1)
    assert update(source_major_version=0) == ("third", 1, 2)
    for target in ({"target_major_version": 3}, {"target_minor_version": 9}, {"target_major_version": 0}):
        with pytest.raises(JudgmentValidationError, match=r"The next is 1\.3 or 2\.0"):
            update(prompt="never", **target)
    with pytest.raises(JudgmentValidationError, match="has no version 7"):
        update(source_major_version=7)


def test_a_code_judge_is_not_updated(client: Client, agent_judges: AgentJudges) -> None:
    class Coded(Judge[BinaryResponse]):
        async def score(self, data: Any) -> BinaryResponse:  # noqa: ARG002
            return BinaryResponse(value=True, reason="")

    client.judges.register(Coded)
    with pytest.raises(ValueError, match="is a code judge"):
        agent_judges.update(judge_id="Coded", prompt="x")
    with pytest.raises(JudgmentValidationError, match="Judges not found: nope"):
        agent_judges.update(judge_id="nope", prompt="x")
