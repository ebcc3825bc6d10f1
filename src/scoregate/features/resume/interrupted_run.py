"""Resume a run that did not finish: find it, and reuse its results if its conditions are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from anyio import to_thread

from scoregate.errors import RecordError, UsageError
from scoregate.features.resume.keys import OFFERED
from scoregate.kernel.host import git
from scoregate.kernel.job.earlier_attempts import describe_difference, find_attempts, is_incomplete
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.resume_request import REQUEST, ResumeRequest
from scoregate.kernel.job.steps import PlannedRun
from scoregate.kernel.judge.archive import read_run
from scoregate.kernel.run.recording import read_conditions
from scoregate.kernel.run.reuse import ReusableResults, offer_results, suite_key
from scoregate.kernel.types.runs.cases import Status
from scoregate.kernel.types.runs.reuse import CHANGED, GONE, REUSED_FROM, ReusedRun, suite_reuse_problem
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.text import format_local_time

_MOST_REASONS = 10


async def resume_run(planned: PlannedRun, ports: Ports) -> PlannedRun:
    """Offer a plan the results of the last run, if that did not finish and had the same conditions.

    In a job, the last run is the attempt before this one.

    Args:
        planned: the plan.
        ports: say which run is resumed, and where files for suites are written.

    Raises:
        UsageError: the conditions are not the same, and the command requires it.
    """
    context, plan, settings = planned.context, planned.plan, planned.settings
    request = ports.requests.get(REQUEST) or ResumeRequest()
    try:
        planned, run, name = await _find_earlier_run(planned, request.folder)
    except RecordError as error:
        return _with_notice(planned, f"no results of an earlier run are reused: {error.message}")
    if run is None:
        return planned
    if not is_incomplete(run, settings.policy()):
        return _with_notice(planned, f"{name} had finished{_outcome(run)}, so everything was run again")
    tree = await git.read_work_tree(plan.root)
    conditions = await read_conditions(plan.root, settings, tree)
    if not (why := await describe_difference(run, conditions, plan, tree)):
        folder = ports.scratch / "reuse"
        reusable = await to_thread.run_sync(offer_results, run, plan, folder, ports.identity)
        return replace(planned, plan=reusable.plan, slots=planned.slots.put(OFFERED, (reusable, name)))
    notice = f"no results of {name} are reused: {why}"
    if context.connection is None and request.is_required:
        raise UsageError(
            f"--resume: {notice}",
            advice="Undo the change, let git ignore the file, or measure everything again: --resume --force.",
        )
    return _with_notice(planned, notice)


def _with_notice(planned: PlannedRun, notice: str) -> PlannedRun:
    return replace(planned, notices=(*planned.notices, notice))


async def _find_earlier_run(planned: PlannedRun, last: Path | None) -> tuple[PlannedRun, Run | None, str]:
    """The plan with what was read, the run to resume, and its name for notices.

    Raises:
        RecordError: there is none, or it can't be read.
    """
    if planned.context.connection is not None:
        slots, attempts = await find_attempts(planned.context, planned.slots)
        planned = replace(planned, slots=slots)
        if attempts.problem and not attempts.runs:
            raise RecordError(attempts.problem)
        run = attempts.runs[0] if attempts.runs else None
        return planned, run, "" if run is None else f"attempt {run.end.attempt} of this job"
    if last is None:
        return planned, None, ""
    run = await to_thread.run_sync(read_run, last)
    return planned, run, f"the run of {format_local_time(run.started)}"


def _outcome(run: Run) -> str:
    passed, failed = (sum(suite.columns.count(each) for suite in run.suites) for each in (Status.PASSED, Status.FAILED))
    return f" ({passed:,} of {passed + failed:,} cases passed)" if passed + failed else ""


def describe_reuse(run: Run, reusable: ReusableResults, name: str) -> Run:
    """The run with a notice of how many results it reused, and why not the others.

    Args:
        run: the run that was made with an offer.
        reusable: the results that were offered.
        name: the name of the stored run, for the notice.
    """
    reused = sum(suite.columns.reused for suite in run.suites)
    trials = sum(len(suite.columns) for suite in run.suites)
    reasons = reusable.refused + Counter(_refusals(run, reusable))
    notice = f"{reused:,} of {trials:,} results were reused from {name}"
    if reasons:
        shown = (f"{number:,} {reason}" for reason, number in reasons.most_common(_MOST_REASONS))
        notice += f"; not reused: {', '.join(shown)}"
    source = reusable.run
    used = ReusedRun(source.id, source.started, source.end.finished, source.end.attempt) if reused else None
    return replace(run, slots=run.slots.put(REUSED_FROM, used)).add_notices(notice)


def _refusals(run: Run, reusable: ReusableResults) -> Iterator[str]:
    """The reasons why trials that were offered were run again."""
    then = {suite_key(suite): suite for suite in reusable.run.suites}
    now = {suite_key(suite): suite for suite in run.suites}
    for key, definitions in reusable.definitions.items():
        suite = now.get(key)
        why = (
            "whose suite did not run" if suite is None else suite_reuse_problem(suite.evaluators, then[key].evaluators)
        )
        rows = {} if suite is None else {suite.columns.key(row): row for row in range(len(suite.columns))}
        for trial, definition in definitions.items():
            row = rows.get(trial)
            if suite is not None and row is not None and suite.columns.sources[row]:
                continue
            if why or suite is None:
                yield why if suite is None else f"of {suite.label} ({why})"
            elif row is None:
                yield GONE
            else:
                is_same = definition == (suite.columns.digests[row], suite.columns.tags.get(row, ()))
                yield f"of {suite.label} (its SDK measures all)" if is_same else CHANGED
