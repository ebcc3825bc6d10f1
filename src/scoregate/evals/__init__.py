"""The short API: `evaluate` runs a task on data and scores its outputs."""

from typing import TYPE_CHECKING

from scoregate.evals.run import evaluate
from scoregate.kernel.types.lazy_names import make_dir, make_getattr

if TYPE_CHECKING:
    from scoregate.engine.eval_result import CaseList, EvalResult, ResultComparison
    from scoregate.kernel.compare.variants import VariantRanking, VariantScore, VariantState
    from scoregate.kernel.types.task_trace import ModelCall, TaskTrace
    from scoregate.kernel.types.trace import Span
    from scoregate.kernel.types.trajectories.trajectory import Trajectory
    from scoregate.kernel.types.trajectory_steps import Message, ToolCall

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
        "scoregate.kernel.types.task_trace": ("ModelCall", "TaskTrace"),
        "scoregate.kernel.types.trace": ("Span",),
        "scoregate.kernel.types.trajectory_steps": ("Message", "ToolCall"),
        "scoregate.kernel.types.trajectories.trajectory": ("Trajectory",),
        "scoregate.kernel.compare.variants": ("VariantRanking", "VariantScore", "VariantState"),
        "scoregate.engine.eval_result": ("CaseList", "EvalResult", "ResultComparison"),
    },
)
