"""Report what got worse on the base branch: an issue, and webhooks. A failure is a warning; the verdict stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scoregate.errors import GitHubRefused
from scoregate.features.alert.declare import AlertKind
from scoregate.features.alert.issue import IssueChange, update_issue
from scoregate.features.alert.problems import FOUND, Alert, AlertProblem, AlertState
from scoregate.features.alert.webhook import WEBHOOK_VARIABLES, post_alert
from scoregate.kernel.job.publish.delivery import Delivery, PublishTarget
from scoregate.kernel.report.view import ReportView

_NO_TOKEN = "there is no token to open an issue with; set github-token"
_FORBIDDEN = 403
_UNSENT = {
    AlertState.NOT_CONFIRMED: "a second measurement did not confirm what got worse, so nothing is reported",
    AlertState.UNKNOWN: "what got worse could not be measured again, so nothing is reported",
}


async def publish_alert(
    kinds: Sequence[AlertKind], environ: Mapping[str, str], view: ReportView, target: PublishTarget
) -> Delivery:
    """Update the issue of the alert, and post what changed to the webhooks.

    Args:
        kinds: where it is reported.
        environ: has the addresses of the webhooks.
        view: the run.
        target: where reports can go.
    """
    alert = view.slots.get(FOUND)
    if alert is None:
        return Delivery()
    warnings = (f"alert: {_UNSENT[alert.state]}",) if alert.problems and alert.state in _UNSENT else ()
    total, change = Delivery(warnings=warnings), IssueChange()
    if AlertKind.ISSUE in kinds:
        change, delivery = await _update_issue(view, target)
        total += delivery
    if alert.state is AlertState.CONFIRMED or change.closed:
        message = make_message(view, target, alert, change)
        webhooks = ((kind, WEBHOOK_VARIABLES[kind]) for kind in dict.fromkeys(kinds) if kind in WEBHOOK_VARIABLES)
        problems = [await post_alert(kind, environ.get(name, "").strip(), message) for kind, name in webhooks]
        total += Delivery(warnings=tuple(f"alert: {each}" for each in problems if each))
    return total


async def _update_issue(view: ReportView, target: PublishTarget) -> tuple[IssueChange, Delivery]:
    connection = target.connection
    if connection is None or connection.api is None:
        return IssueChange(), Delivery(warnings=(f"alert: {_NO_TOKEN}",))
    try:
        change = await update_issue(
            view,
            connection.api,
            connection.key,
            graphql_url=connection.github.graphql_url,
            redact=target.redact,
        )
    except GitHubRefused as refused:
        remedy = "; give the job the permission `issues: write`" if refused.status == _FORBIDDEN else ""
        return IssueChange(), Delivery(warnings=(f"alert: the issue can't be written: {refused.message}{remedy}",))
    return change, Delivery()


def make_message(view: ReportView, target: PublishTarget, alert: Alert, change: IssueChange) -> Mapping[str, Any]:
    """The message of a webhook, as JSON; `event` is `alert` or `recovered`. Known secrets are removed."""
    github = target.connection.github if target.connection else None
    branch = view.run.branch or "the base branch"
    title = f"Scores have recovered on {branch}" if change.closed else f"Scores got worse on {branch}"
    return {
        "event": "recovered" if change.closed else "alert",
        "title": f"scoregate: {title}" if github is None else f"scoregate: {title} of {github.repository}",
        "repository": github.repository if github else "",
        "branch": view.run.branch or "",
        "commit": view.run.commit or "",
        "run_url": github.run_url if github else "",
        "issue_url": change.url,
        "problems": [_problem(each, target) for each in alert.problems],
    }


def _problem(problem: AlertProblem, target: PublishTarget) -> dict[str, Any]:
    texts = {name: target.redact(getattr(problem, name)) for name in ("suite", "evaluator", "rule", "text")}
    return {**texts, "base": problem.base, "mean": problem.mean}
