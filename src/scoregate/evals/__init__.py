"""The short API: `evaluate` runs a task on data and scores its outputs."""

from typing import TYPE_CHECKING

from scoregate.evals.run import evaluate

if TYPE_CHECKING:
    from scoregate.engine.eval_result import CaseList, EvalResult, ResultComparison

__all__ = ["CaseList", "EvalResult", "ResultComparison", "evaluate"]


def __getattr__(name: str) -> object:
    """The types of results: imported when they are asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from scoregate.engine import eval_result

    return getattr(eval_result, name)
