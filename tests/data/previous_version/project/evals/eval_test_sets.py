"""Test sets of the store, with every kind of metric."""

from my_metrics import MentionsHours

from scoregate.entities import Endpoints, TestSets
from scoregate.metrics import (
    CategoricalJudge,
    ConversationalJudge,
    GoalAchievementJudge,
    NumericJudge,
    behavior_judge,
    metric,
)


@metric("brief", "numeric", "At most ten words", min_score=0, max_score=100, threshold=10, threshold_operator="<=")
def brief(input, output):
    return {"score": len(output.split()), "reason": "counted"}


endpoint = Endpoints.pull(name="Support Bot")
single = [
    NumericJudge("5: friendly. 1: rude.", name="polite", min_score=1, max_score=5, threshold=4),
    NumericJudge("Is it exact?", name="exact", threshold_operator="=", threshold=1, model="openai/gpt-4o-mini"),
    CategoricalJudge(
        "Which tone?",
        name="tone",
        categories=["kind", "cold"],
        passing_categories=["kind"],
        requires_ground_truth=False,
    ),
    behavior_judge(),
    brief,
    MentionsHours(["nine"]),
    "calm",
]
TestSets.pull(name="opening hours").execute(endpoint, metrics=single, max_concurrency=1)
TestSets.pull(name="refunds").execute(
    endpoint,
    metrics=[ConversationalJudge("Does it stay polite?", name="stays-polite"), GoalAchievementJudge()],
    max_concurrency=1,
)
