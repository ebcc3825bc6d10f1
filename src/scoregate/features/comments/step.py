"""The hook of commands in comments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scoregate.kernel.job.steps import Step

if TYPE_CHECKING:
    from scoregate.kernel.job.comment_command import CommandKind


class CommentsStep(Step):
    """Starts runs by comments."""

    name = "comments"

    @property
    def comment_commands(self) -> Sequence[CommandKind]:
        from scoregate.features.comments.rerun import RERUN
        from scoregate.features.comments.run import RUN

        return (RUN, RERUN)


STEP = CommentsStep()
