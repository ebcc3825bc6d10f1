"""What suites must not reach while they run, and what is checked once the last of them has ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import anyio.to_thread

from scoregate.ci.accounts import current_accounts
from scoregate.ci.identity import find_identity, in_container, workspace
from scoregate.ci.isolation import CommandFiles, OutFolder, kill_accounts
from scoregate.ci.parts import Amend
from scoregate.ci.scene import Scene
from scoregate.core.events import ErrorInfo
from scoregate.core.record import Run, Script

_ALONE = "scoregate"
_SHARED = "run as one user: one could change what another reports, which is looked for and makes the run unmeasurable"


@dataclass(frozen=True, slots=True)
class Protection:
    """The runner's command files and, in our container, the folder of the run, out of reach of suites.

    `scene` is the one to work with meanwhile: its folder is found whatever it is renamed to.
    """

    scene: Scene
    command_files: CommandFiles
    out: OutFolder | None

    async def settle(self, run: Run, amend: Amend) -> Run:
        """End all that suites have left running, and undo what they did to these files.

        Returns:
            The run with what had to be undone. With a process that cannot be killed it is unmeasurable.
        """
        return await anyio.to_thread.run_sync(self._settle, run, amend)

    def _settle(self, run: Run, amend: Amend) -> Run:
        accounts = current_accounts(self.scene.environ)
        left = kill_accounts(accounts) if accounts is not None else ()
        notices = [*self.command_files.discard()]
        if self.out is not None and (moved := self.out.put_back()) is not None:
            notices.append(moved)
        if not left and not notices:
            return run
        scripts = run.scripts
        if left:
            error = ErrorInfo("ProcessesLeft", f"{len(left)} processes of suites cannot be killed")
            scripts = (*scripts, Script(_ALONE, error=error))
        run = replace(run, scripts=scripts, notices=(*run.notices, *notices))
        amend(run)
        return run


@contextmanager
def protected(scene: Scene) -> Iterator[Protection]:
    """Protect them until the block ends.

    Raises:
        UsageError: the folder of the run is behind a link.
    """
    files = CommandFiles(scene.environ)
    out = OutFolder(scene.out, workspace(scene.environ)) if in_container(scene.environ) else None
    try:
        files.protect()
        yield Protection(scene if out is None else replace(scene, held=out.held), files, out)
    finally:
        files.release()
        if out is not None:
            out.put_back()
            out.close()


def missing_isolation(environ: Mapping[str, str]) -> str | None:
    """Why suites are not kept apart by accounts of their own, in a job; None where they are."""
    if environ.get("GITHUB_ACTIONS") != "true" or current_accounts(environ) is not None:
        return None
    if find_identity(environ) is None:
        return f"outside of scoregate's container, suites {_SHARED}"
    return f"this runner does not let suites have user ids of their own, so they {_SHARED}"
