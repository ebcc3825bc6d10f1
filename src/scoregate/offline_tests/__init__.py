"""Offline tests: an agent runs on the examples of a dataset, judges score it, and a pass condition decides."""

from typing import TYPE_CHECKING

from scoregate.judges import JudgeVersionPin, TestConfig
from scoregate.kernel.types.lazy_names import make_dir, make_getattr
from scoregate.offline_tests.client import Evaluations, OfflineTestsFactory
from scoregate.offline_tests.results import AgentFunction, OfflineTestResult, PassConditionFn, ScorerData, ScoringResult
from scoregate.offline_tests.tracer import OfflineTracer, Recording, observe
from scoregate.offline_tests.traces import Traces

if TYPE_CHECKING:
    from scoregate.offline_tests.test_runs import TestRunsFactory, TracedCase, Tracer
    from scoregate.offline_tests.test_suites import TestSuitesFactory

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

__dir__ = make_dir(__name__)
__getattr__ = make_getattr(
    __name__, {".test_runs": ("TestRunsFactory", "TracedCase", "Tracer"), ".test_suites": ("TestSuitesFactory",)}
)
