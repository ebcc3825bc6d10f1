"""The composition root around a run: the sources of baselines, the reports and their publishers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from scoregate.kernel.job.baseline.file import find_file_baseline
from scoregate.kernel.job.baseline.previous import find_previous_baseline
from scoregate.kernel.job.job import JobContext, make_publish_target
from scoregate.kernel.job.ports import Reporting
from scoregate.kernel.job.steps import LoadSteps, Step
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import BaselineKind, Settings
from scoregate.kernel.types.runs.run import Run

if TYPE_CHECKING:
    from scoregate.kernel.compare.agreement import Calibrations
    from scoregate.kernel.job.github.base import BaseCommit
    from scoregate.kernel.job.publish.delivery import Delivery, Publisher
    from scoregate.kernel.report.view import ReportView


def apply_stored_reviews(root: Path, run: Run) -> Run:
    """A run with the reviews in a project's store; the store is read only if a battle waits for reviews.

    Raises:
        StoreError: the store can't be read.
    """
    if not _has_waiting_battles(run):
        return run
    from scoregate.store import open_store
    from scoregate.store.apply_reviews import apply_reviews

    return apply_reviews(run, partial(open_store, root))


def _has_waiting_battles(run: Run) -> bool:
    has_own = any(suite.columns.pending for suite in run.suites)
    return has_own or any(map(_has_waiting_battles, chain(*run.companions.values())))


def load_calibrations(root: Path) -> Calibrations:
    """Load how well each judge agrees with people, from the reviews in a project's store.

    Raises:
        StoreError: the store can't be read.
    """
    from scoregate.store import open_store, read_calibrations

    return read_calibrations(open_store(root))


def build_reporting(context: JobContext, load: LoadSteps, *, is_developers_run: bool = False) -> Reporting:
    """Build the sources of baselines, in order, and the publishers of reports.

    Args:
        context: the job's context.
        load: loads the steps of features.
        is_developers_run: whether `scoregate run` runs the suites on a developer's machine.
    """
    steps = load(context.facts)
    publishing = _Publishing(context, steps)
    connection, base = context.connection, context.base
    return Reporting(
        baselines=(
            partial(find_file_baseline, context.root),
            partial(find_previous_baseline, context.root, is_usable=is_developers_run),
            partial(_find_artifact_baseline, context),
            partial(_find_branch_baseline, context),
            partial(_check_base, context.root, base),
            *(source for step in steps for source in step.baseline_sources(context)),
        ),
        apply_reviews=partial(apply_stored_reviews, context.root),
        calibrations=partial(load_calibrations, context.root),
        announce=publishing.open,
        publish=publishing.publish,
        context=context,
        is_scheduled=connection is not None and connection.github.event_name == "schedule",
        preload=preload_reports,
    )


async def _find_artifact_baseline(context: JobContext, settings: Settings) -> Baseline | None:
    if settings.baseline_kind not in (BaselineKind.AUTO, BaselineKind.ARTIFACT):
        return None
    if context.connection is None or context.base is None:
        return Baseline(None, "name a baseline with --baseline FOLDER or --baseline rerun")
    from scoregate.kernel.job.baseline.artifact import find_artifact_baseline

    return await find_artifact_baseline(settings, context.connection, context.base)


async def _find_branch_baseline(context: JobContext, settings: Settings) -> Baseline | None:
    if settings.baseline_kind not in (BaselineKind.AUTO, BaselineKind.BRANCH):
        return None
    connection, base = context.connection, context.base
    if connection is None or base is None or connection.api is None:
        if settings.baseline_kind is not BaselineKind.BRANCH:
            return None
        note = "the data branch can be read only in GitHub's jobs, with a token"
        return Baseline(None, note, unreadable=connection is not None)
    from scoregate.kernel.job.baseline.data_branch import find_branch_baseline

    return await find_branch_baseline(connection, connection.api, base, settings.base_runs)


async def _check_base(root: Path, base: BaseCommit | None, settings: Settings) -> None:
    """Check that the commit of `rerun` exists before anything is run; the base itself runs later."""
    if settings.baseline_kind is BaselineKind.RERUN:
        from scoregate.kernel.job.baseline.rerun import check_base_exists

        await check_base_exists(root, settings, base=base)


def preload_reports() -> None:
    """Import what only the end of a run needs, and build what validates events."""
    from scoregate.kernel.job.reports import load_renderers
    from scoregate.kernel.types.event_json import prepare_parser

    prepare_parser()  # the first events arrive first
    load_renderers()


class _Publishing:
    """Delivers the reports of a job by all publishers, those of features among them."""

    def __init__(self, context: JobContext, steps: Sequence[Step]) -> None:
        self._context, self._steps = context, steps
        self._feature_publishers: list[Publisher] = []

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for step in self._steps:
                self._feature_publishers += await stack.enter_async_context(step.open_publishers(self._context))
            yield

    async def publish(self, view: ReportView) -> Delivery:
        from scoregate.kernel.job.publish.delivery import deliver
        from scoregate.kernel.job.reports import list_publishers, load_renderers

        target = make_publish_target(self._context, load_renderers())
        return await deliver(view, target, (*list_publishers(target), *self._feature_publishers))
