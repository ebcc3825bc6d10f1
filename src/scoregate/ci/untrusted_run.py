"""Runs of jobs that executed code of a pull request, published by a job that has more rights.

The author of that code can forge what those jobs leave. So only the numbers are used, judged again by the settings of
this repository.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace

from scoregate.ci.job import JobContext
from scoregate.ci.judge import judge
from scoregate.ci.pipeline import find_baseline, gate_finished_run
from scoregate.ci.reporting import build_reporting
from scoregate.ci.settings import Settings
from scoregate.ci.steps import ComparedSides, Judged, Step
from scoregate.core.comparison.comparison import Comparison
from scoregate.core.records import record
from scoregate.core.runs.past_runs import History
from scoregate.core.runs.run import Run
from scoregate.core.runs.suite_labels import label_suites
from scoregate.core.slots import NO_SLOTS, Slots
from scoregate.errors import ScoregateError


@record
class PublishedRun:
    """The result of one artifact: its outcome, or the reason why there is none."""

    key: str
    outcome: Judged | None = None
    problem: str = ""


async def compare_run(steps: Sequence[Step], context: JobContext, run: Run, slots: Slots) -> Comparison:
    """The comparison of a run with its baseline, without slices.

    Args:
        steps: the features.
        context: the context of the job, with the base and the settings that judge.
        run: the run.
        slots: what features add.
    """
    baseline = await find_baseline(context.settings, build_reporting(context, steps))
    return judge(ComparedSides(run, baseline, context.settings, slots), steps, with_slices=False).comparison


async def publish_run(context: JobContext, run: Run, steps: Sequence[Step]) -> Judged:
    """Judge a run without its claims, and deliver the reports.

    Args:
        context: the context of the job, with the base and the settings that judge.
        run: the run.
        steps: the features.
    """
    settings = context.settings
    return await gate_finished_run(_remove_claims(run, settings), settings, build_reporting(context, steps), steps)


async def collect_outcome(key: str, judged: Awaitable[Judged]) -> PublishedRun:
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


def _remove_claims(run: Run, settings: Settings) -> Run:
    """The run without its claims: its commit, title and history, filters, skipped suites, and what features keep.

    Args:
        run: the run.
        settings: the settings of this repository, which decide whether the run covers a part of the project only.
    """
    pairs = zip(run.suites, label_suites(run.suites), strict=True)
    suites = tuple(replace(suite, label=label, skipped=False) for suite, label in pairs)
    return replace(
        run,
        message=None,
        commit=None,
        branch=None,
        filters=(),
        skipped=(),
        narrowed=settings.narrowed,
        companions={},
        history=History(),
        conditions=None,
        reused_from=None,
        slots=NO_SLOTS,
        suites=suites,
    )
