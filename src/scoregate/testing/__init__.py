"""Suites as code, with the API of Autoblocks' testing SDK."""

from typing import TYPE_CHECKING

from scoregate.kernel.types.lazy_names import make_dir, make_getattr
from scoregate.testing.models import BaseTestCase, BaseTestEvaluator, Evaluation, Threshold

if TYPE_CHECKING:
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

# Modules of cases and evaluators run nothing.
__dir__ = make_dir(__name__)
__getattr__ = make_getattr(__name__, {".run": ("RunManager", "grid_search_ctx", "run_test_suite")})
