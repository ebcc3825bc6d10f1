"""The short API: `evaluate` runs a task on data and scores its outputs."""

from importlib import import_module
from typing import TYPE_CHECKING

from scoregate.evals.run import evaluate

if TYPE_CHECKING:
    from scoregate.core.variants import VariantRanking, VariantScore, VariantState
    from scoregate.engine.eval_result import CaseList, EvalResult, ResultComparison

__all__ = [
    "CaseList",
    "EvalResult",
    "ResultComparison",
    "VariantRanking",
    "VariantScore",
    "VariantState",
    "evaluate",
]


def __getattr__(name: str) -> object:
    """The types of results: imported when they are asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "scoregate.core.variants" if name.startswith("Variant") else "scoregate.engine.eval_result"
    return getattr(import_module(module), name)
