"""Keep the host's files out of reach of suites while they run, and check them after the last suite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import anyio.to_thread

from scoregate.kernel.host.isolation.command_files import CommandFiles
from scoregate.kernel.host.isolation.out_folder import OutFolder
from scoregate.kernel.host.isolation.processes import kill_accounts
from scoregate.kernel.host.runner import find_workspace, in_container
from scoregate.kernel.host.user_ids import current_accounts
from scoregate.kernel.job.job import JobContext
from scoregate.kernel.job.ports import AmendRun
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import Run, Script

_SCRIPT_NAME = "scoregate"


@record
class Protection:
    """Protects the runner's command files and, in scoregate's container, the folder of the run from suites.

    Use `context` instead of the original context: its folder is found also after a suite renamed it.
    """

    context: JobContext
    command_files: CommandFiles
    out: OutFolder | None

    async def settle(self, run: Run, amend: AmendRun) -> Run:
        """Kill processes that suites left, and undo their changes to these files.

        Args:
            run: the recorded run.
            amend: writes it again.

        Returns:
            The run with notices of the changes. A process that can't be killed makes it unmeasurable.
        """
        return await anyio.to_thread.run_sync(self._settle, run, amend)

    def _settle(self, run: Run, amend: AmendRun) -> Run:
        accounts = current_accounts(self.context.environ)
        left = kill_accounts(accounts) if accounts is not None else ()
        notices = [*self.command_files.discard()]
        if self.out is not None and (moved := self.out.put_back()) is not None:
            notices.append(moved)
        if not left and not notices:
            return run
        scripts = run.scripts
        if left:
            error = ErrorInfo("ProcessesLeft", f"{len(left)} processes of suites can't be killed")
            scripts = (*scripts, Script(_SCRIPT_NAME, error=error))
        run = replace(run, scripts=scripts, notices=(*run.notices, *notices))
        amend(run)
        return run


@contextmanager
def protect_host_files(context: JobContext) -> Iterator[Protection]:
    """Protect the files until the block ends.

    Raises:
        UsageError: the path to the folder of the run has a link.
    """
    files = CommandFiles(context.environ)
    out = OutFolder(context.out, find_workspace(context.environ)) if in_container(context.environ) else None
    try:
        files.protect()
        yield Protection(context if out is None else replace(context, open_out=out.open_path), files, out)
    finally:
        files.release()
        if out is not None:
            out.put_back()
            out.close()
