"""The earlier attempts at the code of a run: they are found before it, and copied next to it."""

from __future__ import annotations

from dataclasses import replace

from scoregate.features.attempts.keys import KEPT, KeptAttempts
from scoregate.kernel.host import git
from scoregate.kernel.job.earlier_attempts import EarlierAttempts, describe_difference, find_attempts, list_finished
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.steps import PlannedRun
from scoregate.kernel.judge.archive import ATTEMPT, RUN_FOLDER, RunWriter
from scoregate.kernel.run.recording import read_conditions
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import Run

_MOST = 20


async def keep_attempts(planned: PlannedRun, ports: Ports) -> PlannedRun:
    """The plan that keeps the earlier attempts which ran all suites under the same conditions.

    Args:
        planned: the plan.
        ports: read the last run on a developer's machine.
    """
    if planned.baseline.implicit:  # the last run is the baseline
        return planned
    planned, found = await _find_attempts(planned, ports)
    if found.problem:
        notice = "this attempt counts alone: what the earlier ones stored can't be read"
        return replace(planned, notices=(*planned.notices, notice))
    whole = [each for each in list_finished(found.runs, planned.settings.policy()) if each.scope.is_whole]
    if not whole:
        return planned
    tree = await git.read_work_tree(planned.plan.root)
    conditions = await read_conditions(planned.plan.root, planned.settings, tree)
    same = [each for each in whole if not await describe_difference(each, conditions, planned.plan, tree)]
    if not same:
        return planned
    kept = KeptAttempts(tuple(same[-_MOST:]), planned.context.out / RUN_FOLDER)
    return replace(planned, slots=planned.slots.put(KEPT, kept))


async def _find_attempts(planned: PlannedRun, ports: Ports) -> tuple[PlannedRun, EarlierAttempts]:
    if planned.context.connection is not None:
        return await find_attempts(planned)
    last = await ports.read_previous_run()
    return planned, EarlierAttempts(() if last is None else (last,))


def copy_attempts(run: Run, kept: KeptAttempts) -> Run:
    """The run with the earlier attempts as its companions, which are copied to its folder: the next attempt reads them.

    Args:
        run: the run, which is recorded.
        kept: the attempts, and the folder of the run.

    Raises:
        RecordError: the disk is full, or can't be written to.
    """
    for number, attempt in enumerate(kept.runs, 1):
        with RunWriter(kept.folder / f"{ATTEMPT}{number:02}") as writer:
            for case in attempt.cases:
                writer.add(case)
            writer.add_media_of(attempt)
            run = run.add_companion(TrialRole.MAIN, writer.finish(attempt, with_columns=True))
    return run
