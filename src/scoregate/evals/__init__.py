"""The short API: `evaluate` runs a task on data and scores its outputs."""

from importlib import import_module
from typing import TYPE_CHECKING

from scoregate.evals.run import evaluate

if TYPE_CHECKING:
    from scoregate.core.task_trace import ModelCall, TaskTrace
    from scoregate.core.trace import Span
    from scoregate.core.variants import VariantRanking, VariantScore, VariantState
    from scoregate.engine.eval_result import CaseList, EvalResult, ResultComparison

__all__ = [
    "CaseList",
    "EvalResult",
    "ModelCall",
    "ResultComparison",
    "Span",
    "TaskTrace",
    "VariantRanking",
    "VariantScore",
    "VariantState",
    "evaluate",
]
_CORE_MODULES = {
    "ModelCall": "task_trace",
    "Span": "trace",
    "TaskTrace": "task_trace",
    "VariantRanking": "variants",
    "VariantScore": "variants",
    "VariantState": "variants",
}


def __getattr__(name: str) -> object:
    """The types of results and traces: imported when they are asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _CORE_MODULES:
        return getattr(import_module(f"scoregate.core.{_CORE_MODULES[name]}"), name)
    from scoregate.engine import eval_result

    return getattr(eval_result, name)
