"""All features, in the order in which their hooks are called, and their sections of one place are printed.

Settings import this table, so a feature's module `declare` imports nothing heavy.
"""

from __future__ import annotations

from scoregate.features.affected.declare import FEATURE as AFFECTED
from scoregate.features.alert.declare import FEATURE as ALERT
from scoregate.features.check_run.declare import FEATURE as CHECK_RUN
from scoregate.features.cluster.declare import FEATURE as CLUSTER
from scoregate.features.confirm.declare import FEATURE as CONFIRM
from scoregate.features.coverage.declare import FEATURE as COVERAGE
from scoregate.features.decline.declare import FEATURE as DECLINE
from scoregate.features.drift.declare import FEATURE as DRIFT
from scoregate.features.extras.declare import FEATURE as EXTRAS
from scoregate.features.gateway.declare import FEATURE as GATEWAY
from scoregate.features.otlp.declare import FEATURE as OTLP
from scoregate.features.setup.declare import FEATURE as SETUP
from scoregate.features.skip_label.declare import FEATURE as SKIP_LABEL
from scoregate.features.slices.declare import FEATURE as SLICES
from scoregate.features.traces.declare import FEATURE as TRACES
from scoregate.kernel.types.declarations.declaration import Feature

FEATURES: tuple[Feature, ...] = (
    SETUP,
    Feature("imports"),
    TRACES,
    Feature("foreign"),
    CLUSTER,
    Feature("history"),  # the decline looks for earlier runs there
    Feature("resume"),
    AFFECTED,  # what the base measured replaces what an earlier attempt offers
    EXTRAS,
    Feature("comments"),
    Feature("exemptions"),  # which cases count comes before what moved
    SKIP_LABEL,
    DRIFT,
    CONFIRM,  # repeats and the control can change which cases fail newly
    Feature("arms"),
    Feature("variants"),
    SLICES,
    DECLINE,
    Feature("costs"),  # the estimate needs to know what runs
    GATEWAY,  # the calls explain the costs
    COVERAGE,
    OTLP,
    ALERT,
    Feature("forks", in_runs=False),
    CHECK_RUN,  # completes the check once everything else is delivered
)
