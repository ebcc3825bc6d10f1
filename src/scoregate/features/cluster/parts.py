"""Divide a plan into parts, and prepare their launches for the machines of a cluster."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from pathlib import Path
from statistics import median

from scoregate.errors import UsageError
from scoregate.features.cluster.executor import Part
from scoregate.features.cluster.wire import HOST_PYTHON
from scoregate.kernel.job.shards.sharding import digest_settings, restrict_to_shard
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.plan import Launch, Plan, SourceKind
from scoregate.kernel.types.runs.baseline_outputs import BASELINE_OUTPUTS_VARIABLE
from scoregate.kernel.types.sharding.packing import LaunchDuration, pack_launches
from scoregate.kernel.types.sharding.partition import MOST_SHARDS, Partition, make_partition

# Short parts lose little with a worker, and end at about the same time; every part starts a process.
_PARTS_PER_WORKER = 4
_SHORTEST_S, _LONGEST_S = 5.0, 120.0
_FILE_VARIABLES = (BASELINE_OUTPUTS_VARIABLE, "SCOREGATE_REUSE")
_MOST_FILE_BYTES = 64 * 1024 * 1024


def divide_for_workers(plan: Plan, settings: Settings, workers: int) -> Partition:
    """Divide a plan into parts of similar durations: about four for each worker, of 5 s to 2 min.

    Without the durations of the baseline, each launch is a part.

    Args:
        plan: the plan.
        settings: the settings of the project.
        workers: how many parts run at the same time.
    """
    known = plan.durations
    usual = median(launch.total for launch in known.values()) if known else 1.0
    launches = [known.get(launch.name) or LaunchDuration(launch.name, 0.0, seconds=usual) for launch in plan.launches]
    number = len(launches)
    if known:
        total = sum(launch.total for launch in launches)
        target_s = min(_LONGEST_S, max(_SHORTEST_S, total / (_PARTS_PER_WORKER * workers)))
        number = ceil(total / target_s)
    loads = pack_launches(launches, max(1, min(MOST_SHARDS, number)))
    return make_partition(
        ((seconds if known else 0.0, work) for seconds, work in loads if work or len(loads) == 1),
        commit=None,
        code=None,
        settings=digest_settings(settings),
    )


def restrict_to_part(plan: Plan, partition: Partition, number: int, settings: Settings) -> Plan:
    """The plan of one part, with the whole budget: parts share it, or get leases.

    Args:
        plan: the whole plan.
        partition: the partition.
        number: the number of the part, from 1.
        settings: the settings of the project.
    """
    undivided = settings.model_copy(update={"max_cost": None, "max_tokens": None})
    return restrict_to_shard(plan, partition, number, undivided)


def make_part(plan: Plan, partition: Partition, *, is_local: bool, secrets: frozenset[str] = frozenset()) -> Part:
    """What a worker gets of a part's plan.

    Args:
        plan: the plan of the part.
        partition: the partition.
        is_local: whether workers share the files and the interpreter of this machine.
        secrets: values that no other machine gets.

    Raises:
        UsageError: a file that workers need is too large.
    """
    assert plan.shard is not None
    seconds = partition.shard(plan.shard.number).seconds
    if is_local:
        return Part(plan.shard.number, seconds, plan.launches, {})
    launches = tuple(_send_launch(launch, plan, secrets) for launch in plan.launches)
    return Part(plan.shard.number, seconds, launches, dict(_read_files(launches)))


def _send_launch(launch: Launch, plan: Plan, secrets: frozenset[str]) -> Launch:
    """The launch without what only this machine has: its interpreter, the variables of that, and secrets."""
    own, launcher = plan.interpreter.argv, plan.interpreter.launcher
    argv = launch.argv
    if launcher and launch.kind is SourceKind.COMMAND and argv[: len(launcher)] == launcher:
        argv = argv[len(launcher) :]
    elif argv[: len(own)] == own:
        argv = (HOST_PYTHON, *argv[len(own) :])
    elif argv[0] == sys.executable:
        argv = (HOST_PYTHON, *argv[1:])
    environment = {
        name: value
        for name, value in launch.environment.items()
        if name not in plan.interpreter.environment and not any(secret in value for secret in secrets)
    }
    return replace(launch, argv=argv, environment=environment)


def _read_files(launches: tuple[Launch, ...]) -> Iterator[tuple[str, bytes]]:
    """The files of variables, which workers can't read here."""
    paths = {launch.environment.get(name, "") for launch in launches for name in _FILE_VARIABLES}
    for path in sorted(paths - {""}):
        content = Path(path).read_bytes()
        if len(content) > _MOST_FILE_BYTES:
            raise UsageError(
                f"the baseline outputs or results for a part have {len(content):,} bytes, "
                f"and workers get at most {_MOST_FILE_BYTES:,}",
                advice="Run these suites on one machine.",
            )
        yield path, content
