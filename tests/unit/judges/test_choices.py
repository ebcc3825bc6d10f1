"""The record has the scores that a judge can give, with their names."""

from __future__ import annotations

import pytest

from scoregate.judges.result import possible_scores
from scoregate.judges.versions import JudgeVersion
from scoregate.kernel.types.event_values import Choice
from scoregate.metrics import CategoricalJudge, NumericJudge
from scoregate.metrics.judges import behavior_judge
from scoregate.metrics.scorers import build_scorers
from scoregate.store.judges import Category, Grading

TONES = (Category(value="kind", score=1), Category(value="curt", score=0.25), Category(value="none"))
NUMBERS = {"min_score": 1, "max_score": 5}


@pytest.mark.parametrize(
    ("grading", "choices"),
    [
        (Grading(score_type="binary", prompt="?"), (Choice(1, "Yes"), Choice(0, "No"))),
        (Grading(score_type="categorical", prompt="?", categories=TONES), (Choice(1, "kind"), Choice(0.25, "curt"))),
        (Grading(score_type="numeric", prompt="?", **NUMBERS), ()),
    ],
)
def test_versions_have_scores(grading: Grading, choices: tuple[Choice, ...]) -> None:
    assert possible_scores(JudgeVersion("1", "tone", None, grading)) == choices


def test_metrics_have_scores() -> None:
    tone = CategoricalJudge(
        "Which?", name="tone", categories=["kind", "warm", "odd"], passing_categories=["kind", "warm"]
    )
    metrics = [tone, NumericJudge("How?", name="number"), behavior_judge()]
    found = {each.info.id: each.info.choices for each in build_scorers(metrics, lambda _, output: output)}
    assert found == {
        "tone": (Choice(1, "kind, warm"), Choice(0, "odd")),
        "number": (),
        "behavior": (Choice(1, "Yes"), Choice(0, "No")),
    }
