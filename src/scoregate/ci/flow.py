"""The story on one page: discover, plan, find a base, launch, record, compare, judge, report."""

from __future__ import annotations

from dataclasses import dataclass

from scoregate.ci.adapt import adapt
from scoregate.ci.baseline import Baseline
from scoregate.ci.confirm import confirm
from scoregate.ci.parts import Ports
from scoregate.ci.plan import Found, Plan, make_plan
from scoregate.ci.policies import chosen_policy
from scoregate.ci.settings import Settings
from scoregate.core.compare import Comparison, compare
from scoregate.core.gate import Verdict, judge
from scoregate.core.record import Run


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where the story ends."""

    comparison: Comparison
    verdict: Verdict


async def plan_suites(settings: Settings, ports: Ports) -> tuple[Found, Plan]:
    """What would be run, in an environment that is ready; nothing is imported."""
    found = await ports.discover(settings)
    interpreter = await ports.prepare(settings)
    return found, make_plan(found.sources, settings, interpreter=interpreter, root=ports.root)


async def gate(settings: Settings, ports: Ports) -> Outcome:
    """Run the suites and judge them."""
    baseline = await first_baseline(settings, ports)
    found, plan = await plan_suites(settings, ports)
    run = await ports.record(plan, settings, (*settings.notices, *found.notices))
    if baseline is None:
        baseline = await ports.rerun(plan, settings)
    if settings.repeats == "auto":
        run, baseline = await adapt(run, baseline, plan, settings, ports)
    outcome = judged(run, baseline, settings)
    if (confirmed := await confirm(outcome.comparison, plan, settings, ports)) is not run:
        outcome = judged(confirmed, baseline, settings)
    await ports.publish(outcome.comparison, outcome.verdict)
    return outcome


def judged(run: Run, baseline: Baseline, settings: Settings) -> Outcome:
    """Compare a run with its base and apply the policy; nothing is run."""
    comparison = compare(run, baseline.run, baseline.note, pool=baseline.pool, criteria=settings.criteria())
    policy, changes = chosen_policy(settings, baseline.run)
    return Outcome(comparison, judge(comparison, policy, policy_changes=changes))


async def first_baseline(settings: Settings, ports: Ports) -> Baseline | None:
    """The first base that a source has; None where it is to be made by running the base's suites."""
    for source in ports.baselines:
        if (baseline := await source(settings)) is not None:
            return baseline
    return None
