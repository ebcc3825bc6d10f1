"""The options of one execution."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scoregate.enums import ExecutionMode
from scoregate.errors import EntityError
from scoregate.execution.conversation import ConversationOptions
from scoregate.kernel.types.suite import RunLimits
from scoregate.metrics import GoalAchievementJudge

if TYPE_CHECKING:
    from scoregate.models import Model


@dataclass(frozen=True)
class ExecutionOptions:
    """The options of one execution; None keeps the default.

    Args:
        mode: whether tests run in parallel.
        metrics: the metrics for every test, instead of all others.
        execution_model: the model of the simulated user.
        evaluation_model: the model of judges that name none.
        max_concurrency: how many tests run in parallel; None: the limit of the endpoint.
    """

    mode: ExecutionMode | str | None = None
    metrics: Iterable[Any] | None = None
    execution_model: str | Model | None = None
    evaluation_model: str | Model | None = None
    max_concurrency: int | None = None

    def limits(self, default_concurrency: int) -> RunLimits:
        """The limits of the suite.

        Raises:
            EntityError: `max_concurrency` is not an integer of at least 1.
            ValueError: there is no such mode.
        """
        concurrency = default_concurrency if self.max_concurrency is None else self.max_concurrency
        if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
            raise EntityError(f"max_concurrency must be a whole number of at least 1, not {concurrency!r:.60}")
        mode = ExecutionMode.from_string(self.mode) if isinstance(self.mode, str) else self.mode
        return RunLimits(1 if mode is ExecutionMode.SEQUENTIAL else concurrency)

    def conversations(self) -> ConversationOptions:
        """The options of conversations."""
        return ConversationOptions(self.execution_model, GoalAchievementJudge(model=self.evaluation_model))
