"""All features, in the order in which their hooks are called and their sections are printed."""

from __future__ import annotations

from scoregate.ci.steps import Step
from scoregate.features.arms.step import ArmsStep
from scoregate.features.confirm.step import ConfirmStep
from scoregate.features.costs.step import CostsStep
from scoregate.features.coverage.step import CoverageStep
from scoregate.features.decline.step import DeclineStep
from scoregate.features.drift.step import DriftStep
from scoregate.features.exemptions.step import ExemptionsStep
from scoregate.features.extras.step import ExtrasStep
from scoregate.features.gateway.step import GatewayStep
from scoregate.features.slices.step import SlicesStep
from scoregate.features.variants.step import VariantsStep

STEPS: tuple[Step, ...] = (
    DeclineStep(),
    ExemptionsStep(),  # which cases count comes before what moved
    ExtrasStep(),
    DriftStep(),
    ConfirmStep(),  # repeats and the control can change which cases fail newly
    ArmsStep(),  # whole suites, before the parts of one
    VariantsStep(),
    SlicesStep(),
    CostsStep(),
    GatewayStep(),  # the calls explain the costs
    CoverageStep(),
)
