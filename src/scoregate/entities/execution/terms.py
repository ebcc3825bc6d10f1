"""How tests are to be run, as who starts them says it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scoregate.core.suite import Limits
from scoregate.enums import ExecutionMode
from scoregate.errors import EntityError

if TYPE_CHECKING:
    from scoregate.entities.execution.talks import Talks
    from scoregate.models import Model


@dataclass(frozen=True)
class Terms:
    """What holds for one run; None leaves it as it is otherwise.

    Args:
        mode: whether tests run side by side. max_concurrency: how many at a time then; those of the endpoint if None.
        metrics: for every test, in the place of all others.
        execution_model: plays the user of conversations. evaluation_model: that of judges that name none.
    """

    mode: ExecutionMode | str | None = None
    metrics: Iterable[Any] | None = None
    execution_model: str | Model | None = None
    evaluation_model: str | Model | None = None
    max_concurrency: int | None = None

    def limits(self, of_endpoint: int) -> Limits:
        """How many tests run at a time.

        Raises:
            EntityError: that is no number of at least 1. ValueError: there is no such mode.
        """
        most = of_endpoint if self.max_concurrency is None else self.max_concurrency
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise EntityError(f"max_concurrency must be a whole number of at least 1, not {most!r:.60}")
        mode = ExecutionMode.from_string(self.mode) if isinstance(self.mode, str) else self.mode
        return Limits(1 if mode is ExecutionMode.SEQUENTIAL else most)

    def talks(self) -> Talks:
        """How conversations are led."""
        from scoregate.entities.execution.talks import Talks
        from scoregate.metrics import GoalAchievementJudge

        return Talks(self.execution_model, GoalAchievementJudge(model=self.evaluation_model))
