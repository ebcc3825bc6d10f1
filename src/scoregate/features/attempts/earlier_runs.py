"""The earlier attempts at the code of a run: they are found before it, and copied next to it."""

from __future__ import annotations

from dataclasses import replace

from scoregate.features.attempts.keys import KEPT, KeptAttempts
from scoregate.kernel.host import git
from scoregate.kernel.job.earlier_attempts import (
    EarlierAttempts,
    describe_difference,
    find_attempts,
    find_last_push,
    list_finished,
)
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.steps import PlannedRun
from scoregate.kernel.judge.archive import ATTEMPT, RUN_FOLDER, RunWriter
from scoregate.kernel.run.recording import read_conditions
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.suite_states import digest_states

_MOST = 10
_NO_ATTEMPTS = "this attempt counts alone: what the earlier ones stored can't be read"
_NO_PUSHES = "this push counts alone: what the last one stored can't be read"


async def keep_attempts(planned: PlannedRun, ports: Ports) -> PlannedRun:
    """The plan that keeps the earlier attempts which ran all suites under the same conditions, and earlier pushes.

    Of a push, only what its run recorded can show later which suites measured the same.

    Args:
        planned: the plan.
        ports: read the last run on a developer's machine.
    """
    if planned.baseline.implicit:  # the last run is the baseline
        return planned
    planned, found = await _find_attempts(planned, ports)
    pushes = await find_last_push(planned)
    for problem, notice in ((found.problem, _NO_ATTEMPTS), (pushes.problem, _NO_PUSHES)):
        if problem:
            planned = replace(planned, notices=(*planned.notices, notice))
    kept = [
        *(each for each in _list_whole(pushes, planned) if digest_states(each)),
        *await _select_same_code(_list_whole(found, planned), planned),
    ]
    unique = {each.id: each for each in kept}
    if not unique:
        return planned
    known = KeptAttempts(tuple(unique.values())[-_MOST:], planned.context.out / RUN_FOLDER)
    return replace(planned, slots=planned.slots.put(KEPT, known))


def _list_whole(found: EarlierAttempts, planned: PlannedRun) -> list[Run]:
    return [each for each in list_finished(found.runs, planned.settings.policy()) if each.scope.is_whole]


async def _select_same_code(attempts: list[Run], planned: PlannedRun) -> list[Run]:
    if not attempts:
        return []
    tree = await git.read_work_tree(planned.plan.root)
    conditions = await read_conditions(planned.plan.root, planned.settings, tree)
    return [each for each in attempts if not await describe_difference(each, conditions, planned.plan, tree)]


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
            writer.add_cases_of(attempt)
            run = run.add_companion(TrialRole.MAIN, writer.finish(attempt, with_columns=True))
    return run
