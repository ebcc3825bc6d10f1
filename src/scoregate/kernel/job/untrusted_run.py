"""Runs of jobs that executed code of a pull request, published by a job that has more rights.

The author of that code can forge what those jobs leave. So only the numbers are used, judged again by the settings of
this repository.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import replace

from scoregate.errors import ScoregateError
from scoregate.kernel.compare.comparison import Comparison
from scoregate.kernel.job.job import JobContext
from scoregate.kernel.job.pipeline import find_baseline, gate_finished_run
from scoregate.kernel.job.reporting import build_reporting
from scoregate.kernel.job.steps import LoadSteps, Outcome, Step
from scoregate.kernel.judge.judge import judge
from scoregate.kernel.judge.judgement import ComparedSides
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.declarations.declaration import RunFacts
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.confirmations import CONFIRMATIONS, Confirmation, ConfirmationOutcome, confirmations_of
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.past_runs import History
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.suite_labels import label_suites
from scoregate.kernel.types.slots import Slots

_AGAINST = (ConfirmationOutcome.CONFIRMED, ConfirmationOutcome.OPEN)


@record
class PublishedRun:
    """The result of one artifact: its outcome, or the reason why there is none."""

    key: str
    outcome: Outcome | None = None
    problem: str = ""


async def compare_run(load: LoadSteps, context: JobContext, run: Run, slots: Slots) -> Comparison:
    """The comparison of a run with its baseline, without anything that reads the inputs of its cases.

    Args:
        load: loads the steps of features.
        context: the context of the job, with the base and the settings that judge.
        run: the run.
        slots: what features add.
    """
    baseline = await find_baseline(context.settings, build_reporting(context, load))
    run = replace(run, read_inputs=lambda: ())  # the author of the change controls what is in them
    return judge(ComparedSides(run, baseline, context.settings, slots), load).comparison


async def publish_run(context: JobContext, run: Run, load: LoadSteps) -> Outcome:
    """Judge a run without its claims, and deliver the reports.

    Args:
        context: the context of the job, with the base and the settings that judge.
        run: the run.
        load: loads the steps of features.
    """
    settings = context.settings
    run = _remove_claims(run, settings, load(RunFacts(settings, runs=(run,))))
    return await gate_finished_run(run, settings, build_reporting(context, load), load)


async def collect_outcome(key: str, judged: Awaitable[Outcome]) -> PublishedRun:
    """The outcome of a run, or why there is none: a run that can't be used must not stop what is left to do.

    Args:
        key: the key of the use.
        judged: reads, judges and reports the run.
    """
    try:
        return PublishedRun(key, await judged)
    except ScoregateError as error:
        return PublishedRun(key, problem=str(error))
    except Exception as error:  # an artifact may hold anything
        return PublishedRun(key, problem=f"it can't be reported: {type(error).__name__}: {error}")


def _remove_claims(run: Run, settings: Settings, steps: Sequence[Step]) -> Run:
    """The run without its claims: its commit, title and history, filters, skipped suites, and what features keep.

    Its earlier attempts and further runs are numbers as it is. They can only be forged by who can forge the run. Of
    cases that ran again, only those stay that speak against it.

    Args:
        run: the run.
        settings: the settings of this repository, which decide whether the run covers a part of the project only.
        steps: the features, which name what they keep besides claims.
    """
    companions = {
        role: tuple(_remove_claims(each, settings, steps) for each in run.companions_of(role))
        for role in (TrialRole.MAIN, TrialRole.AGAIN)
        if run.companions_of(role)
    }
    if again := run.companions_of(TrialRole.AGAIN_BASE):
        companions[TrialRole.AGAIN_BASE] = again  # counts by its commit
    slots = run.slots.select([slot for step in steps for slot in step.number_slots])
    pairs = zip(run.suites, label_suites(run.suites), strict=True)
    suites = tuple(replace(suite, label=label, skipped=False) for suite, label in pairs)
    return replace(
        run,
        code=replace(run.code, message=None, commit=None, branch=None),
        scope=replace(run.scope, filters=(), skipped=(), narrowed=settings.narrowed),
        companions=companions,
        history=History(),
        conditions=None,
        slots=slots.put(CONFIRMATIONS, tuple(_list_against(run)) or None),
        suites=suites,
    )


def _list_against(run: Run) -> Iterator[Confirmation]:
    """What speaks against the run: cases that failed again, and those that stay open with all others of their suite."""
    known = confirmations_of(run)
    settled = {each.suite for each in known if each.outcome not in _AGAINST}
    for each in known:
        is_open_alone = not each.base_tries and not any(each.tries)
        if each.outcome in _AGAINST and not (is_open_alone and each.suite in settled):
            yield each
