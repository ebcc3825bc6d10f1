"""A few sample cases of suites without a base, run to estimate what the others cost."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from scoregate.ci.costs.estimate import Probe
from scoregate.ci.launch import EventsReceived, LaunchEvent
from scoregate.ci.plan import Plan
from scoregate.ci.ports import Ports
from scoregate.ci.settings import Settings
from scoregate.core.events import SuiteStarted
from scoregate.core.partial import CaseSelection

SAMPLE_CASES = 3
FOLDER = "probe"


@dataclass(slots=True)
class TotalCounter:
    """Counts the trials that suites have in all, as they report it when they start."""

    totals: dict[tuple[str, str], int] = field(default_factory=dict)

    def observe(self, event: LaunchEvent, _: Any) -> None:
        """Read an event; the observer of a run."""
        if isinstance(event, EventsReceived):
            for each in event.events:
                if isinstance(each, SuiteStarted) and each.total is not None:
                    self.totals[event.script, each.suite] = each.total


async def run_probe(
    plan: Plan, settings: Settings, ports: Ports, counter: TotalCounter, scripts: Collection[str]
) -> Probe:
    """Run sample cases of some scripts, in a folder of their own, so that they are no run to compare with.

    Args:
        plan: the plan.
        settings: the settings of the project.
        ports: what records runs; its observers include the counter.
        counter: counts the trials of the suites.
        scripts: the names of the launches that run.
    """
    selection = CaseSelection(sample=SAMPLE_CASES)
    chosen = settings.model_copy(update={"selection": selection, "max_cases": None})
    environments = {
        launch.name: {**launch.environment, **selection.environment(launch.source.path, launch.name)}
        for launch in plan.launches
    }
    launches = tuple(
        replace(launch, environment={k: v for k, v in environments[launch.name].items() if k != "SCOREGATE_MAX_CASES"})
        for launch in plan.launches
        if launch.name in scripts
    )
    probed = Plan(plan.root, plan.interpreter, launches, narrowed=True)
    run = await ports.record(probed, chosen, (), folder=FOLDER)
    return Probe(await ports.settle(run, lambda _: None), counter.totals)
