"""The setting `alert`."""

from __future__ import annotations

from enum import StrEnum

from scoregate.kernel.types.declarations.declaration import Feature, Setting, choose_from


class AlertKind(StrEnum):
    """Where a run of the base branch reports scores that got worse: an issue, Slack, or any other webhook."""

    ISSUE = "issue"
    SLACK = "slack"
    WEBHOOK = "webhook"


ALERT = Setting[tuple[AlertKind, ...]](
    "alert",
    choose_from(AlertKind, is_list=True),
    (),
    """Where runs of the base branch report what got worse, once a second measurement confirms it: `issue`, `slack` (to
    the address in `SCOREGATE_SLACK_WEBHOOK`), `webhook` (as JSON, to that in `SCOREGATE_ALERT_WEBHOOK`).
    """,
    "The comparison",
    after="approved",
)
FEATURE = Feature("alert", settings=(ALERT,), is_on=lambda facts: ALERT.is_set(facts.settings))
