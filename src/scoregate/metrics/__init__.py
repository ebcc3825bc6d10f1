"""Metrics: judges of one output or of a conversation, and functions, for tests against an endpoint or by themselves."""

from scoregate.metrics.bar import ThresholdOperator
from scoregate.metrics.behavior import BehaviorJudge, behavior_judge
from scoregate.metrics.categorical import CategoricalJudge
from scoregate.metrics.conversational import ConversationalJudge
from scoregate.metrics.definitions import read_metric, read_metrics
from scoregate.metrics.function import FunctionMetric, metric
from scoregate.metrics.goal import GoalAchievementJudge, goal_verdicts
from scoregate.metrics.grade import Grade, MetricResult
from scoregate.metrics.history import ConversationHistory
from scoregate.metrics.judge import Judge
from scoregate.metrics.metric import Metric
from scoregate.metrics.numeric import NumericJudge
from scoregate.metrics.scorers import scorers_of
from scoregate.metrics.subject import Subject

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
    "NumericJudge",
    "Subject",
    "ThresholdOperator",
    "behavior_judge",
    "goal_verdicts",
    "metric",
    "read_metric",
    "read_metrics",
    "scorers_of",
]
