"""The composition root of what stands around a run: where a base is looked for, and where reports go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial

from scoregate.ci.baseline.artifact import artifact_baseline
from scoregate.ci.baseline.data_branch import branch_baseline
from scoregate.ci.baseline.file import file_baseline
from scoregate.ci.baseline.rerun import findable
from scoregate.ci.parts import Reporting
from scoregate.ci.publish.annotations import publish_annotations
from scoregate.ci.publish.check_run import CheckRun
from scoregate.ci.publish.comment import publish_comment
from scoregate.ci.publish.data_branch import publish_to_branch
from scoregate.ci.publish.deliver import Publisher, deliver
from scoregate.ci.publish.files import publish_files
from scoregate.ci.publish.job_summary import publish_summary
from scoregate.ci.publish.outlet import Delivery, Render
from scoregate.ci.report import html, json, junit, markdown
from scoregate.ci.report.make_view import make_view
from scoregate.ci.report.view import ReportView
from scoregate.ci.scene import Scene, context_of, outlet_of
from scoregate.ci.since import calibrations_of, counted_since
from scoregate.core.compare import Comparison
from scoregate.core.gate import Verdict

REPORTS: Mapping[str, tuple[str, Render]] = {
    "junit": ("junit.xml", junit.render),
    "markdown": ("comment.md", markdown.render),
    "json": ("result.json", json.render),
    "html": ("report.html", html.render),
}
PUBLISHERS: tuple[Publisher, ...] = (
    publish_files,
    publish_summary,
    publish_annotations,
    publish_comment,
    publish_to_branch,
)


def reporting(scene: Scene) -> Reporting:
    """Where a base is looked for, in this order, and where reports go."""
    check = _check(scene)
    connection, base = scene.connection, scene.base
    return Reporting(
        baselines=(
            partial(file_baseline, scene.root),
            partial(artifact_baseline, connection=connection, base=base),
            partial(branch_baseline, connection=connection, base=base),
            partial(findable, scene.root, base=base),
        ),
        counted=counted_since(scene.root),
        calibrations=partial(calibrations_of, scene.root),
        announced=check.open if check else _unannounced,
        view=partial(_view, scene),
        publish=partial(_publish, scene, (*PUBLISHERS, check.publish) if check else PUBLISHERS),
    )


def _check(scene: Scene) -> CheckRun | None:
    connection, subject = scene.connection, scene.subject
    if not scene.settings.check_run or connection is None or connection.api is None or subject is None:
        return None
    return None if subject.read_only else CheckRun(connection.api, subject.commit, connection.key, subject.run_url)


def _unannounced() -> AbstractAsyncContextManager[None]:
    return nullcontext()


def _view(scene: Scene, comparison: Comparison, verdict: Verdict) -> ReportView:
    return make_view(comparison, verdict, context_of(scene))


async def _publish(scene: Scene, publishers: Sequence[Publisher], view: ReportView) -> Delivery:
    return await deliver(view, outlet_of(scene, dict(REPORTS.values())), publishers)
