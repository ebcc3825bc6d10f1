"""The short API: `evaluate` runs a task on data and scores its outputs."""

from typing import TYPE_CHECKING

from scoregate.core.lazy_names import make_dir, make_getattr
from scoregate.evals.run import evaluate

if TYPE_CHECKING:
    from scoregate.core.comparison.variants import VariantRanking, VariantScore, VariantState
    from scoregate.core.task_trace import ModelCall, TaskTrace
    from scoregate.core.trace import Span
    from scoregate.core.trajectories.trajectory import Trajectory
    from scoregate.core.trajectory_steps import Message, ToolCall
    from scoregate.engine.eval_result import CaseList, EvalResult, ResultComparison

__all__ = [
    "CaseList",
    "EvalResult",
    "Message",
    "ModelCall",
    "ResultComparison",
    "Span",
    "TaskTrace",
    "ToolCall",
    "Trajectory",
    "VariantRanking",
    "VariantScore",
    "VariantState",
    "evaluate",
]

__dir__ = make_dir(__name__)
__getattr__ = make_getattr(
    __name__,
    {
        "scoregate.core.task_trace": ("ModelCall", "TaskTrace"),
        "scoregate.core.trace": ("Span",),
        "scoregate.core.trajectory_steps": ("Message", "ToolCall"),
        "scoregate.core.trajectories.trajectory": ("Trajectory",),
        "scoregate.core.comparison.variants": ("VariantRanking", "VariantScore", "VariantState"),
        "scoregate.engine.eval_result": ("CaseList", "EvalResult", "ResultComparison"),
    },
)
