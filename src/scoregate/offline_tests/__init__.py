"""Offline tests: a dataset's examples through an agent and past judges, with a pass condition."""

from scoregate.judges import JudgeVersionPin, TestConfig
from scoregate.offline_tests.evaluation import Evaluations
from scoregate.offline_tests.factory import OfflineTestsFactory
from scoregate.offline_tests.result import OfflineTestResult, ScorerData, ScoringResult
from scoregate.offline_tests.tracer import OfflineTracer, Recording, observe
from scoregate.offline_tests.traces import Traces
from scoregate.offline_tests.types import AgentFunction, PassConditionFn

__all__ = [
    "AgentFunction",
    "Evaluations",
    "JudgeVersionPin",
    "OfflineTestResult",
    "OfflineTestsFactory",
    "OfflineTracer",
    "PassConditionFn",
    "Recording",
    "ScorerData",
    "ScoringResult",
    "TestConfig",
    "Traces",
    "observe",
]
