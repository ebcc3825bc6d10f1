"""Metrics: judges of one output or of a conversation, and functions, for tests against an endpoint or by themselves."""

from scoregate.enums import TestType as MetricScope
from scoregate.grading.grade import Grade, ThresholdOperator
from scoregate.grading.subject import Subject
from scoregate.metrics.definitions import read_metric, read_metrics
from scoregate.metrics.evaluation import ConversationHistory
from scoregate.metrics.function import FunctionMetric, metric
from scoregate.metrics.goal import GoalAchievementJudge, goal_verdicts
from scoregate.metrics.judges import (
    BehaviorJudge,
    CategoricalJudge,
    ConversationalJudge,
    Judge,
    NumericJudge,
    behavior_judge,
)
from scoregate.metrics.metric import Metric, MetricResult
from scoregate.metrics.scorers import build_scorers

__all__ = [
    "BehaviorJudge",
    "CategoricalJudge",
    "ConversationHistory",
    "ConversationalJudge",
    "FunctionMetric",
    "GoalAchievementJudge",
    "Grade",
    "Judge",
    "Metric",
    "MetricResult",
    "MetricScope",
    "NumericJudge",
    "Subject",
    "ThresholdOperator",
    "behavior_judge",
    "build_scorers",
    "goal_verdicts",
    "metric",
    "read_metric",
    "read_metrics",
]
