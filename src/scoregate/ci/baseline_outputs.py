"""The file with the base run's outputs, which the battles of suites have to beat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from scoregate.ci.plan import Plan
from scoregate.ci.user_ids import Identity
from scoregate.core.runs.baseline_outputs import BASELINE_OUTPUTS_VARIABLE, dump_baseline_outputs
from scoregate.core.runs.run import Run


def with_baseline_outputs(
    scratch: Path, identity: Identity | None, plan: Plan, base: Run | None, *, keeps: bool
) -> Plan:
    """The plan with a file of the base run's outputs for its suites.

    Args:
        scratch: a folder of the host.
        identity: the user that suites run as.
        plan: what is launched.
        base: the base run; None if there is none yet.
        keeps: whether the store stays after the run, so that without a base run it has the baseline outputs.
    """
    if base is None and keeps:
        return plan
    file = scratch / "champions.jsonl"
    with file.open("xb") as lines:
        lines.writelines(() if base is None else dump_baseline_outputs(base))
    if identity is not None:
        file.chmod(0o400)
        identity.share(file)
    variables: Mapping[str, str] = {BASELINE_OUTPUTS_VARIABLE: str(file)}
    launches = (replace(launch, environment={**launch.environment, **variables}) for launch in plan.launches)
    return replace(plan, launches=tuple(launches))
