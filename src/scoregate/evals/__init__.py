"""The short API: `evaluate` runs a task on data and scores its outputs."""

from importlib import import_module
from typing import TYPE_CHECKING

from scoregate.evals.run import evaluate

if TYPE_CHECKING:
    from scoregate.core.task_trace import ModelCall, TaskTrace
    from scoregate.core.trace import Span
    from scoregate.engine.eval_result import CaseList, EvalResult, ResultComparison

__all__ = ["CaseList", "EvalResult", "ModelCall", "ResultComparison", "Span", "TaskTrace", "evaluate"]
_TRACES = {"ModelCall": "task_trace", "Span": "trace", "TaskTrace": "task_trace"}


def __getattr__(name: str) -> object:
    """The types of results and traces: imported when they are asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _TRACES:
        return getattr(import_module(f"scoregate.core.{_TRACES[name]}"), name)
    from scoregate.engine import eval_result

    return getattr(eval_result, name)
