"""What battles have to beat, told to the suites that hold them: the outputs of the base run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from scoregate.ci.identity import Identity
from scoregate.ci.plan import Plan
from scoregate.core.champions import CHAMPIONS_VARIABLE, champion_lines
from scoregate.core.record import Run


def with_champions(scratch: Path, identity: Identity | None, plan: Plan, base: Run | None, *, keeps: bool) -> Plan:
    """The plan, its suites told of the base's outputs.

    Args:
        scratch: a folder of ours. identity: who suites run as. base: None where there is none yet.
        keeps: what suites leave in the workspace stays there, so that without a base the store knows the champions.
    """
    if base is None and keeps:
        return plan
    file = scratch / "champions.jsonl"
    with file.open("xb") as lines:
        lines.writelines(() if base is None else champion_lines(base))
    if identity is not None:
        file.chmod(0o400)
        identity.share(file)
    told: Mapping[str, str] = {CHAMPIONS_VARIABLE: str(file)}
    launches = (replace(launch, environment={**launch.environment, **told}) for launch in plan.launches)
    return replace(plan, launches=tuple(launches))
