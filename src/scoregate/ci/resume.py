"""Go on from a run that did not finish: which one it is, and whether its results may be reused."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from anyio import to_thread

from scoregate.ci.archive import read_run
from scoregate.ci.baseline.artifact import earlier_attempt
from scoregate.ci.conditions import conditions_of
from scoregate.ci.identity import Identity
from scoregate.ci.plan import Plan
from scoregate.ci.reuse import Offer, offer, settled
from scoregate.ci.scene import Scene
from scoregate.ci.settings import Settings
from scoregate.core.case import Status
from scoregate.core.policy import Policy
from scoregate.core.record import Run
from scoregate.core.rules.of_run import script_failures
from scoregate.errors import GitHubRefused, RecordError


@dataclass(frozen=True, slots=True)
class Resumed:
    """A plan that goes on from an earlier run, where there is one to go on from; `notices` describe it."""

    plan: Plan
    notices: tuple[str, ...] = ()
    offered: Offer | None = None
    name: str = ""

    def settle(self, run: Run) -> Run:
        """The run that was made by the plan, with what it has of the earlier one."""
        return run if self.offered is None else settled(run, self.offered, self.name)


Resume: TypeAlias = Callable[[Plan, Settings], Awaitable[Resumed]]


async def resume(
    scene: Scene, folder: Path, identity: Identity | None, plan: Plan, settings: Settings, *, last: Path | None
) -> Resumed:
    """Offer a plan what the last run has measured, if that one did not finish and measured the same.

    In a job it is the attempt before this one.

    Args:
        folder: is made for the files that the suites read. identity: who reads them.
        last: the folder of the last run, elsewhere than in a job; None if nothing of it is wanted.
    """
    try:
        run, name = await _earlier(scene, last)
    except (RecordError, GitHubRefused) as error:
        return Resumed(plan, (f"nothing is reused of an earlier run: {error.message}",))
    if run is None:
        return Resumed(plan)
    if not is_incomplete(run, settings.policy()):
        return Resumed(plan, (f"{name} had finished{_outcome(run)}: everything was measured again",))
    conditions = await conditions_of(plan.root, settings)
    known = run.conditions
    if known is None or None in (known.code, conditions.code):
        why = "it can't be checked whether the code is the same"
    elif known.code != conditions.code:
        why = "the code is not the same: another commit, or other uncommitted changes"
    elif known.settings != conditions.settings:
        why = "it was run with another model, interpreter or environment"
    else:
        offered = await to_thread.run_sync(offer, run, plan, folder, identity)
        return Resumed(offered.plan, (), offered, name)
    return Resumed(plan, (f"nothing is reused of {name}: {why}",))


async def _earlier(scene: Scene, last: Path | None) -> tuple[Run | None, str]:
    """The run to go on from, and what it is called.

    Raises:
        RecordError: there is none, or it cannot be read. GitHubRefused: it cannot be had.
    """
    connection = scene.connection
    if connection is not None:
        attempt = connection.github.run_attempt
        if attempt < 2 or connection.api is None:
            return None, ""
        run = await earlier_attempt(connection, connection.api)
        return run, "" if run is None else f"attempt {run.attempt} of this job"
    if last is None:
        return None, ""
    run = await to_thread.run_sync(read_run, last)
    return run, f"the run of {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(run.started))}"


def is_incomplete(run: Run, policy: Policy) -> bool:
    """Whether a run was stopped, a part of it failed, or a suite has more errors than it may have."""
    return (
        not run.complete
        or bool(script_failures(run))
        or any(
            not suite.complete
            or bool(suite.errors)
            or len(suite.columns.erring()) > (policy.of(suite).max_error_rate or 0) * len(suite.columns)
            for suite in run.suites
        )
    )


def _outcome(run: Run) -> str:
    passed, failed = (sum(suite.columns.count(each) for suite in run.suites) for each in (Status.PASSED, Status.FAILED))
    return f" ({passed:,} of {passed + failed:,} cases passed)" if passed + failed else ""
