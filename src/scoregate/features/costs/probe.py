"""Sample cases of suites without a base, to estimate the others; the cases of all other suites are counted."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from scoregate.features.costs.estimate import Probe
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.launch import EventsReceived, LaunchEvent
from scoregate.kernel.run.plan import Launch, Plan, SourceKind
from scoregate.kernel.types.events import SuiteStarted
from scoregate.kernel.types.selection import WHOLE, CaseSelection

SAMPLE_CASES = 3
FOLDER = "probe"
_SAMPLED_KINDS = (SourceKind.PYTHON, SourceKind.PYTEST, SourceKind.CONFIG, SourceKind.TESTSET)


@dataclass(slots=True)
class TotalCounter:
    """Counts the trials that suites have in all, and how many run at once, as they report it when they start."""

    totals: dict[tuple[str, str], int] = field(default_factory=dict)
    concurrency: dict[tuple[str, str], int] = field(default_factory=dict)

    def observe(self, event: LaunchEvent, _: Any) -> None:
        """Read an event; the observer of a run."""
        if isinstance(event, EventsReceived):
            for each in event.events:
                if isinstance(each, SuiteStarted) and each.total is not None:
                    self.totals[event.script, each.suite] = each.total
                    if each.concurrency is not None:
                        self.concurrency[event.script, each.suite] = max(1, each.concurrency)


def can_sample(launch: Launch) -> bool:
    """Whether a launch runs only the cases that it is asked for. Other programs would run all of them."""
    return launch.kind in _SAMPLED_KINDS and not launch.source.foreign and not launch.source.imports


async def run_probe(
    plan: Plan, settings: Settings, ports: Ports, counter: TotalCounter, scripts: Collection[str]
) -> Probe:
    """Run sample cases of some scripts, and none of the others, whose suites only report how many cases they have.

    Args:
        plan: the plan.
        settings: the settings of the project.
        ports: what records runs; its observers include the counter.
        counter: counts the trials of the suites.
        scripts: the names of the launches of which sample cases run.
    """
    launches = tuple(_choose_cases(each, each.name in scripts) for each in plan.launches if can_sample(each))
    # Without a selection in the settings, suites of which no case runs are recorded, too.
    everything = settings.model_copy(update={"selection": WHOLE})
    probed = Plan(plan.root, plan.interpreter, launches, narrowed=True)
    run = await ports.record(probed, everything, (), folder=FOLDER)
    return Probe(await ports.settle(run, lambda _: None), counter.totals, counter.concurrency)


def _choose_cases(launch: Launch, is_sampled: bool) -> Launch:
    selection = CaseSelection(sample=SAMPLE_CASES if is_sampled else 0)
    environment = {**launch.environment, **selection.environment(launch.source.path, launch.name)}
    environment.pop("SCOREGATE_MAX_CASES", None)
    return replace(launch, environment=environment)
