"""What a plan gets of the baseline: outputs that new ones battle against, and durations by which work is divided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from scoregate.kernel.job.ports import Ports
from scoregate.kernel.job.steps import PlannedRun
from scoregate.kernel.run.durations import read_durations
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.types.runs.baseline_outputs import BASELINE_OUTPUTS_VARIABLE, dump_baseline_outputs
from scoregate.kernel.types.runs.run import Run


def add_base_values(planned: PlannedRun, ports: Ports) -> PlannedRun:
    """The plan with the baseline's outputs for its suites, and with its durations.

    Args:
        planned: the plan, and the baseline.
        ports: where files for suites are written.
    """
    base = planned.baseline.run
    # Without a base run, the store has the outputs, if it stays after the run.
    has_store = base is None and planned.context.connection is None
    plan = planned.plan if has_store else _add_outputs(planned.plan, base, ports)
    return replace(planned, plan=replace(plan, durations=read_durations(plan, base)))


def _add_outputs(plan: Plan, base: Run | None, ports: Ports) -> Plan:
    file, identity = ports.scratch / "champions.jsonl", ports.identity
    with file.open("xb") as lines:
        lines.writelines(() if base is None else dump_baseline_outputs(base))
    if identity is not None:
        file.chmod(0o400)
        identity.share(file)
    variables: Mapping[str, str] = {BASELINE_OUTPUTS_VARIABLE: str(file)}
    launches = (replace(launch, environment={**launch.environment, **variables}) for launch in plan.launches)
    return replace(plan, launches=tuple(launches))
