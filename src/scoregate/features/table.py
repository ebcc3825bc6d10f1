"""All features, in the order in which their hooks are called and their sections are printed.

Settings import this table, so a feature's module `declare` imports nothing heavy.
"""

from __future__ import annotations

from scoregate.core.declarations.declaration import Feature
from scoregate.features.decline.declare import FEATURE as DECLINE

FEATURES: tuple[Feature, ...] = (
    Feature("imports"),
    Feature("traces"),  # what suites do at the gateway happens within their traces
    Feature("foreign"),
    Feature("cluster"),
    DECLINE,
    Feature("extras"),
    Feature("exemptions"),  # which cases count comes before what moved
    Feature("drift"),
    Feature("confirm"),  # repeats and the control can change which cases fail newly
    Feature("arms", has_hooks=False),
    Feature("variants"),
    Feature("slices", has_hooks=False),
    Feature("costs", has_hooks=False),
    Feature("gateway"),  # the calls explain the costs
    Feature("coverage"),
)
