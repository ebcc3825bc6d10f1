"""The context of a report: repository, commit, CI run. Everything is optional outside CI."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from posixpath import join
from urllib.parse import quote

from scoregate.kernel.report.run_start import RunStart
from scoregate.kernel.types.event_values import Origin
from scoregate.kernel.types.records import record


@record
class ReportContext:
    """The repository, the job and the options of a report.

    Args:
        key: distinguishes the comments of several jobs in one repository.
        repository: the web address of the repository, `https://github.com/owner/name`.
        folder: the project's folder within the repository, with slashes; empty at its top.
        commit: the full hash of the reported commit; None for that of the run.
        run: the id of the CI run with its attempt, `1234567.1`.
        run_url: the page with the full report and the log.
        base_branch: the branch whose next run can be a baseline.
        generated_at: seconds since the epoch.
        pull_request: whether the report is about a pull request.
        request: the number of the pull or merge request, where the report isn't posted by scoregate itself.
        named: the folder of the run, as commands need it; empty if it is the default.
        show_outputs: whether outputs of the code under test may be shown.
        redact: removes known secrets from text; reports with compressed parts call it themselves.
        start: how the run was started, for commands that repeat a part of it.
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
    request: str = ""
    named: str = ""
    show_outputs: bool = True
    redact: Callable[[str], str] = str
    start: RunStart = RunStart()

    @property
    def side(self) -> str:
        """The heading of the run's own scores, next to those of the baseline."""
        return "PR" if self.pull_request else "Now"

    def command(self, name: str) -> str:
        """The command line that opens this run with a command such as `review`: `scoregate review other/folder`."""
        return " ".join(("scoregate", name, *([shlex.quote(self.named)] if self.named else [])))


def source_url(origin: Origin | None, context: ReportContext) -> str | None:
    """The web address of the line that defines a suite or a case; None outside a repository on the web."""
    if origin is None or not context.commit or not (context.repository or "").startswith("https://"):
        return None
    path = quote(join(context.folder, origin.file).encode("utf-8", "replace"), safe="/")
    return f"{context.repository}/blob/{quote(context.commit, safe='')}/{path}#L{origin.line}"


def commit_url(commit: str | None, context: ReportContext) -> str | None:
    """The web address of a commit; None outside a repository on the web."""
    if not commit or not (context.repository or "").startswith("https://"):
        return None
    return f"{context.repository}/commit/{quote(commit, safe='')}"
