"""Offline tests: an agent runs on the examples of a dataset, judges score it, and a pass condition decides."""

from scoregate.judges import JudgeVersionPin, TestConfig
from scoregate.offline_tests.client import Evaluations, OfflineTestsFactory
from scoregate.offline_tests.results import AgentFunction, OfflineTestResult, PassConditionFn, ScorerData, ScoringResult
from scoregate.offline_tests.test_runs import TestRunsFactory, TracedCase, Tracer
from scoregate.offline_tests.test_suites import TestSuitesFactory
from scoregate.offline_tests.tracer import OfflineTracer, Recording, observe
from scoregate.offline_tests.traces import Traces

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
    "TestRunsFactory",
    "TestSuitesFactory",
    "TracedCase",
    "Tracer",
    "Traces",
    "observe",
]
