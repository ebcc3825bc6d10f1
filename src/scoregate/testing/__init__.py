"""Suites as code, with the API of Autoblocks' testing SDK."""

from scoregate.testing.models import BaseTestCase, BaseTestEvaluator, Evaluation, Threshold
from scoregate.testing.run import RunManager, grid_search_ctx, run_test_suite

__all__ = [
    "BaseTestCase",
    "BaseTestEvaluator",
    "Evaluation",
    "RunManager",
    "Threshold",
    "grid_search_ctx",
    "run_test_suite",
]
