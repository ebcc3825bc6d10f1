"""The earlier attempts and pushes of a run: they are found before it, and copied next to it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from anyio import to_thread

from scoregate import __version__
from scoregate.errors import RecordError
from scoregate.features.attempts.keys import KEPT, KeptRuns, MergedShards
from scoregate.features.attempts.shards import add_reused_shards, list_shard_runs
from scoregate.kernel.host import git
from scoregate.kernel.job.earlier_attempts import (
    EarlierAttempts,
    describe_difference,
    find_attempts,
    find_pushes,
    is_incomplete,
    list_earlier,
)
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.resume_request import REQUEST
from scoregate.kernel.job.steps import PlannedRun
from scoregate.kernel.judge.archive import RUN_FOLDER, RunWriter
from scoregate.kernel.judge.archive.folder import name_companion
from scoregate.kernel.run.recording import read_conditions
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.policy import Policy
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.suite_states import digest_states

_MOST = 10
_NO_ATTEMPTS = "this attempt counts without some of the earlier ones, whose runs can't be read"
_NO_PUSHES = "this push counts without some of the last ones, whose runs can't be read"


async def keep_earlier(planned: PlannedRun, ports: Ports) -> PlannedRun:
    """The plan that keeps the earlier attempts which ran all suites under the same conditions, and earlier pushes.

    Of a push, only what its run recorded can show later which suites measured the same.

    Args:
        planned: the plan.
        ports: read the last run on a developer's machine.
    """
    if planned.baseline.implicit:  # the last run is the baseline
        return planned
    planned, found = await _find_attempts(planned, ports)
    pushed = await find_pushes(planned)
    attempts, reasons = await _select_same_code(found, planned)
    pushes = [each for each in _list_candidates(pushed, TrialRole.PUSH, planned) if digest_states(each)]
    notices = [*reasons, *([_NO_ATTEMPTS] if found.problem else []), *([_NO_PUSHES] if pushed.problem else [])]
    planned = replace(planned, notices=(*planned.notices, *notices))
    if not attempts and not pushes:
        return planned
    runs = {TrialRole.MAIN: tuple(attempts[-_MOST:]), TrialRole.PUSH: tuple(pushes[-_MOST:])}
    kept = KeptRuns(runs, planned.context.out / RUN_FOLDER)
    if planned.context.connection is not None:
        # If the process is killed, what it leaves replaces what the last attempt stored.
        await to_thread.run_sync(_write, kept)
    return replace(planned, slots=planned.slots.put(KEPT, kept))


async def _find_attempts(planned: PlannedRun, ports: Ports) -> tuple[PlannedRun, EarlierAttempts]:
    if planned.context.connection is not None:
        slots, found = await find_attempts(planned.context, planned.slots)
        return replace(planned, slots=slots), found
    # Variables of the environment can change what a suite measures. So outside of jobs, `--resume` has to say that
    # nothing changed.
    last = None if ports.requests.get(REQUEST) is None else await ports.read_previous_run()
    return planned, EarlierAttempts(() if last is None else (last,))


def _list_candidates(found: EarlierAttempts, role: TrialRole, planned: PlannedRun) -> Iterator[Run]:
    """The runs that may count: not those whose results this run reuses, or that it is compared with."""
    policy = planned.settings.policy()
    used = planned.baseline.run_ids.union(each.id for each in planned.plan.offered)
    for run in list_earlier(found.runs, role):
        if run.id not in used and _is_usable(run, policy):
            yield run


def _is_usable(run: Run, policy: Policy) -> bool:
    """Whether a run is whole and complete, and of this version."""
    return run.scope.is_whole and run.code.version == __version__ and not is_incomplete(run, policy)


async def _select_same_code(found: EarlierAttempts, planned: PlannedRun) -> tuple[list[Run], list[str]]:
    """The attempts at the code of the plan, and in a job why others are none."""
    attempts = list(_list_candidates(found, TrialRole.MAIN, planned))
    if not attempts:
        return [], []
    tree = await git.read_work_tree(planned.plan.root)
    conditions = await read_conditions(planned.plan.root, planned.settings, tree)
    why = [await describe_difference(each, conditions, planned.plan, tree) for each in attempts]
    pairs = list(zip(attempts, why, strict=True))
    in_job = planned.context.connection is not None
    reasons = [f"attempt {each.end.attempt} does not count: {reason}" for each, reason in pairs if reason and in_job]
    return [each for each, reason in pairs if not reason], reasons


def copy_earlier(run: Run, kept: KeptRuns) -> Run:
    """The run with the earlier attempts and pushes as its companions; the next attempt or push reads their copies.

    Args:
        run: the run, which is recorded.
        kept: the earlier runs, and the folder of the run.

    Raises:
        RecordError: the disk is full, or can't be written to.
    """
    for role, earlier in _write(kept):
        run = run.add_companion(role, earlier)
    return run


def keep_merged(run: Run, shards: MergedShards, found: EarlierAttempts) -> Run:
    """The run that was merged from shards, with the earlier attempts of its job as its companions.

    Args:
        run: the merged run.
        shards: where it is.
        found: the earlier attempts.

    Raises:
        RecordError: the disk is full, or can't be written to.
    """
    attempts, notices = list[Run](), [_NO_ATTEMPTS] if found.problem else []
    run = add_reused_shards(run, found.runs)
    for each in list_earlier(found.runs, TrialRole.MAIN):
        if not _is_usable(each, shards.policy):
            continue
        if reason := _describe_merged_difference(run, each):
            notices.append(f"attempt {each.end.attempt} does not count: {reason}")
        elif not list_shard_runs(each) <= list_shard_runs(run):
            attempts.append(each)
    return copy_earlier(run.add_notices(*notices), KeptRuns({TrialRole.MAIN: tuple(attempts[-_MOST:])}, shards.folder))


def _describe_merged_difference(run: Run, earlier: Run) -> str:
    """Why an earlier attempt does not count; empty if it does."""
    try:
        is_known = bool(list_shard_runs(earlier))
    except RecordError as error:
        return error.message
    then, now = earlier.conditions, run.conditions
    if not is_known or then is None or now is None or None in (then.tracked, now.tracked):
        return "it is unknown whether the code is the same"
    is_same = (then.tracked, then.settings) == (now.tracked, now.settings)
    return "" if is_same else "its code or its settings were others"


def _write(kept: KeptRuns) -> list[tuple[TrialRole, Run]]:
    return [
        (role, _write_run(name_companion(kept.folder, role, number), earlier))
        for role, runs in kept.runs.items()
        for number, earlier in enumerate(runs, 1)
    ]


def _write_run(folder: Path, run: Run) -> Run:
    # A suite can write to the folder above, so what is there may be a link that leads elsewhere.
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    with RunWriter(folder) as writer:
        writer.add_cases_of(run)
        written = replace(writer.finish(run, with_columns=True), companions={})
    for number, again in enumerate(run.companions_of(TrialRole.AGAIN), 1):
        copy = _write_run(name_companion(folder, TrialRole.AGAIN, number), again)
        written = written.add_companion(TrialRole.AGAIN, copy)
    return written
