"""The comment on the pull request with the result of `scoregate mutate`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from scoregate.features.interventions.mutation.mutate import MeasuredUnit
from scoregate.features.interventions.mutation.outcomes import UnitOutcome
from scoregate.features.interventions.mutation.report import TITLE, MutationView, list_rows
from scoregate.kernel.host import git
from scoregate.kernel.job.github.commands import command
from scoregate.kernel.job.job import JobContext, make_publish_target, make_report_context
from scoregate.kernel.job.publish.comment import write_comment
from scoregate.kernel.judge.settings import CommentMode
from scoregate.kernel.report.context import ReportContext
from scoregate.kernel.report.markdown import link, marker, prose
from scoregate.kernel.types.runs import number_format

UNKNOWN_CHANGE = "Which parts belong to the change is not known, as the commit before it is not here"
_NAME = "scoregate-mutate"
_MOST_UNITS = 10


async def publish_mutation(view: MutationView, context: JobContext, *, knows_change: bool) -> None:
    """Create or update the comment, in the job of a pull request that may write one.

    Args:
        view: the result.
        context: the job.
        knows_change: whether it is known which units are parts of the change.
    """
    target, report = make_publish_target(context, {}), make_report_context(context)
    unnoticed = _list_unnoticed(view)
    is_news = any(each.chosen.is_own or not knows_change for each in unnoticed)
    delivery = await write_comment(
        target,
        report,
        lambda: "\n".join(_list_lines(view, unnoticed, report, knows_change=knows_change)) + "\n",
        is_wanted=target.comment is CommentMode.ALWAYS or (target.comment is CommentMode.CHANGES and is_news),
        name=_NAME,
    )
    for warning in delivery.warnings:
        target.log(command("warning", target.redact(warning), title="scoregate"))


def _list_unnoticed(view: MutationView) -> list[MeasuredUnit]:
    """The units that nothing notices, those of the change first."""
    units = [each for each in view.mutation.units if each.judgement.outcome is UnitOutcome.NOT_NOTICED]
    return sorted(units, key=lambda each: not each.chosen.is_own)


def _list_lines(
    view: MutationView, unnoticed: Sequence[MeasuredUnit], report: ReportContext, *, knows_change: bool
) -> Iterator[str]:
    folder = f" ({prose(report.folder)})" if report.folder else ""  # several projects have a comment each
    yield from (marker(report, _NAME), f"## {TITLE}{folder}", "", str(prose(view.headline)), "")
    if not knows_change:
        yield from (f"{UNKNOWN_CHANGE} ({git.FETCH_ADVICE}).", "")
    own = [each for each in unnoticed if each.chosen.is_own]
    others = unnoticed[len(own) :]
    for title, units in (("parts of the change", own), ("other units", others)):
        if units:
            yield from (
                f"**Nothing notices these {title}** ({len(units):,}):",
                "",
                *list_rows(view, units, _MOST_UNITS),
                "",
            )
    if view.mutation.left_out:
        left_out = number_format.count(view.mutation.left_out, "unit")
        yield from (f"Not measured: {left_out} ({prose(view.mutation.ended)}).", "")
    yield f"<sub>{link(Markup('All units'), report.run_url)} · updated on every push</sub>"
