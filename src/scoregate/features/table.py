"""All features, in the order in which their hooks are called, and their sections of one place are printed.

Settings import this table, so a feature's module `declare` imports nothing heavy.
"""

from __future__ import annotations

from scoregate.features.affected.declare import FEATURE as AFFECTED
from scoregate.features.alert.declare import FEATURE as ALERT
from scoregate.features.arms.declare import FEATURE as ARMS
from scoregate.features.attempts.declare import FEATURE as ATTEMPTS
from scoregate.features.broken_cases.declare import FEATURE as BROKEN_CASES
from scoregate.features.check_run.declare import FEATURE as CHECK_RUN
from scoregate.features.cluster.declare import FEATURE as CLUSTER
from scoregate.features.confirm.declare import FEATURE as CONFIRM
from scoregate.features.coverage.declare import FEATURE as COVERAGE
from scoregate.features.decline.declare import FEATURE as DECLINE
from scoregate.features.drift.declare import FEATURE as DRIFT
from scoregate.features.exemptions.declare import FEATURE as EXEMPTIONS
from scoregate.features.extras.declare import FEATURE as EXTRAS
from scoregate.features.gateway.declare import FEATURE as GATEWAY
from scoregate.features.history.declare import FEATURE as HISTORY
from scoregate.features.interventions.declare import FEATURE as INTERVENTIONS
from scoregate.features.measure_again.declare import FEATURE as MEASURE_AGAIN
from scoregate.features.otlp.declare import FEATURE as OTLP
from scoregate.features.setup.declare import FEATURE as SETUP
from scoregate.features.skip_label.declare import FEATURE as SKIP_LABEL
from scoregate.features.slices.declare import FEATURE as SLICES
from scoregate.features.traces.declare import FEATURE as TRACES
from scoregate.kernel.types.declarations.declaration import Feature

FEATURES: tuple[Feature, ...] = (
    SETUP,
    Feature("imports", is_on=lambda facts: any(each.imports for each in facts.sources)),
    TRACES,
    Feature("foreign", is_on=lambda facts: any(each.foreign for each in facts.sources)),
    CLUSTER,
    HISTORY,  # the decline looks for earlier runs there
    Feature("resume", is_on=lambda facts: facts.in_job or facts.has_slot("resume.request")),
    AFFECTED,  # what the base measured replaces what an earlier attempt offers
    EXTRAS,
    Feature("comments", is_on=lambda _: False),  # a command lists what it offers
    EXEMPTIONS,  # which cases count comes before what moved
    ATTEMPTS,  # of what the quarantine leaves
    SKIP_LABEL,
    DRIFT,
    MEASURE_AGAIN,
    CONFIRM,  # more trials and the control can change which cases fail newly
    BROKEN_CASES,  # but for those that are confirmed already
    INTERVENTIONS,  # of what fails then
    ARMS,
    Feature("variants", is_on=lambda facts: any(suite.params for run in facts.runs for suite in run.suites)),
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
