"""All features, in the order in which their hooks are called and their sections are printed.

Settings import this table, so a feature's module `declare` imports nothing heavy.
"""

from __future__ import annotations

from scoregate.core.declarations.declaration import Feature
from scoregate.features.decline.declare import FEATURE as DECLINE

FEATURES: tuple[Feature, ...] = (
    Feature("setup"),
    Feature("imports"),
    Feature("traces"),  # what suites do at the gateway happens within their traces
    Feature("foreign"),
    Feature("cluster"),
    Feature("history"),  # the decline looks for earlier runs there
    DECLINE,
    Feature("resume"),
    Feature("affected"),  # what the base measured comes before what an earlier attempt did
    Feature("extras"),
    Feature("comments"),
    Feature("exemptions"),  # which cases count comes before what moved
    Feature("drift"),
    Feature("confirm"),  # repeats and the control can change which cases fail newly
    Feature("arms"),
    Feature("variants", has_hooks=False),
    Feature("slices", has_hooks=False),
    Feature("costs"),  # the estimate needs to know what runs
    Feature("gateway"),  # the calls explain the costs
    Feature("coverage"),
    Feature("otlp"),
    Feature("alert"),
    Feature("forks", in_runs=False),
    Feature("skip_label", in_runs=False),
    Feature("check_run"),  # completes the check once everything else is delivered
)
