"""What a report knows of the place where it is made; everything is optional outside CI."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Context:
    """The surroundings of a report.

    Args:
        key: tells the comments of several jobs in one repository apart.
        repository: the web address of the repository, `https://github.com/owner/name`.
        folder: the project's folder within the repository, with slashes; empty at its top.
        commit: the full hash that the report speaks of; the run's own where None.
        run: the id of the CI run with its attempt, `1234567.1`.
        run_url: where the full report and the log are.
        base_branch: the branch whose next run can serve as a base.
        generated_at: seconds since the epoch.
        pull_request: whether it is one's that the report speaks of.
        named: the folder of the run and its reports as commands take it, where they have to be told; else empty.
        show_outputs: whether what the code under test returned may be shown.
        redact: takes known secrets out of text; reports that pack what they say call it before.
    """

    key: str = "scoregate"
    repository: str | None = None
    folder: str = ""
    commit: str | None = None
    run: str = ""
    run_url: str | None = None
    base_branch: str | None = None
    generated_at: float = 0.0
    pull_request: bool = False
    named: str = ""
    show_outputs: bool = True
    redact: Callable[[str], str] = str

    @property
    def side(self) -> str:
        """What stands above the run's own scores, beside those of its base."""
        return "PR" if self.pull_request else "Now"

    def shows_with(self, command: str) -> str:
        """How a command such as `review` is given this run: `scoregate review other/folder`."""
        return " ".join(("scoregate", command, *([shlex.quote(self.named)] if self.named else [])))
