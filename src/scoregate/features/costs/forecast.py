"""What is known before a run starts: the estimate, warnings of retired models, and whether the budget can suffice."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from math import isnan
from typing import TYPE_CHECKING

from scoregate.errors import RecordError, RunRefused
from scoregate.features.costs.named_models import leave_out_default, list_named_models
from scoregate.features.costs.retirements import list_retirement_warnings
from scoregate.features.costs.section import RunEstimate, format_cost
from scoregate.kernel.host import git
from scoregate.kernel.judge.judgement import Baseline
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.run.recording import read_conditions
from scoregate.kernel.types.amounts import Conclusion, check_limit
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import Run

if TYPE_CHECKING:  # most runs call no models, and the cache and prices take 30 ms to import (measured)
    from scoregate.features.costs.estimate import PlanEstimate, Probe


@record
class Forecast:
    """What is known before a run starts.

    Attributes:
        estimate: the estimate of the plan; None if the base can't be read.
        warnings: retired models, each once.
        problem: why there is no estimate; empty if there is one.
    """

    estimate: PlanEstimate | None = None
    warnings: tuple[str, ...] = ()
    problem: str = ""

    @property
    def notices(self) -> tuple[str, ...]:
        """What reports show."""
        return (*self.warnings, *filter(None, (self.problem,)))

    @property
    def total(self) -> RunEstimate | None:
        """The sums; None if no suite has a known cost or an unknown price."""
        total = None if self.estimate is None else self.estimate.total
        return None if total is None or (total.cost is None and not total.unpriced) else total

    @property
    def shards_total(self) -> RunEstimate | None:
        """The sums for a run in shards, whose duration is that of the longest one: the partition has it."""
        return None if self.total is None else replace(self.total, seconds=None)


async def make_forecast(
    plan: Plan, settings: Settings, baseline: Baseline, *, probe: Probe | None = None, whole: bool = False
) -> Forecast:
    """Estimate what a plan uses, and find the retired models that it names. It never fails because of the base.

    Args:
        plan: the plan, without what a change can't affect.
        settings: the settings of the project.
        baseline: what the run is compared with.
        probe: what sample cases used; None if none ran.
        whole: whether to estimate suites that call no models, too.
    """
    from anyio import to_thread

    base = baseline.run
    same_code = base is not None and await _is_unchanged(plan, settings, base)
    estimate, problem = None, ""
    if whole or (base is not None and has_usage(base)) or (probe is not None and probe.run is not None):
        from scoregate.features.costs.estimate import estimate_plan

        try:
            estimate = await to_thread.run_sync(
                lambda: estimate_plan(plan, settings, base, same_code=same_code, probe=probe)
            )
        except RecordError as error:
            problem = f"No estimate of the cost: the cases of the base can't be read: {error.message}"
    warnings = await to_thread.run_sync(_find_warnings, plan, settings, base, estimate)
    return Forecast(estimate, warnings, problem)


def has_usage(run: Run) -> bool:
    """Whether a run has any known tokens, so that there is something to estimate."""
    return any(script.usage is not None for script in run.scripts) or any(
        suite.usage is not None or not all(map(isnan, suite.columns.tokens)) for suite in run.suites
    )


async def _is_unchanged(plan: Plan, settings: Settings, base: Run) -> bool:
    """Whether code and settings are those of the base's run, so that it asks the same questions."""
    known = base.conditions
    if known is None or known.code is None:
        return False
    now = await read_conditions(plan.root, settings, await git.read_work_tree(plan.root))
    return (now.code, now.settings) == (known.code, known.settings)


def _find_warnings(plan: Plan, settings: Settings, base: Run | None, estimate: PlanEstimate | None) -> tuple[str, ...]:
    named = list(list_named_models(plan, settings, base))
    if estimate is not None and base is not None:
        named += leave_out_default(estimate.called, settings, base)
    return tuple(list_retirement_warnings(named, datetime.now(UTC).date()))


def check_budget(estimate: RunEstimate | None, settings: Settings) -> None:
    """Refuse a run that will exceed its budget. In doubt it starts, and the limit applies to each call.

    Raises:
        RunRefused: the lower bound of the estimate exceeds `max_cost`.
    """
    cost = None if estimate is None else estimate.cost
    if estimate is None or cost is None or settings.max_cost is None:
        return
    if check_limit(cost.low, settings.max_cost) is not Conclusion.FAILED:
        return
    origin = settings.origin("max_cost")
    raise RunRefused(
        f"nothing was run, because this run would exceed the budget: it costs {format_cost(cost)} "
        f"(90 % interval), and max_cost = ${settings.max_cost:g} ({origin}). The estimate is made from the costs of "
        f"each case in {estimate.base or 'the base'}, current prices and the stored answers",
        advice="Raise max_cost, run fewer cases (--max-cases, --sample, --suite), or see `scoregate plan` for the "
        "cost of each suite.",
    )
