"""Shards: divide a plan by the durations of the baseline, and restrict a plan to one shard."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from statistics import median

from pydantic_core import to_json

from scoregate.errors import UsageError
from scoregate.kernel.host import git
from scoregate.kernel.judge.settings import BaselineKind, Settings
from scoregate.kernel.judge.settings.limit_fields import FEATURE_SETTINGS
from scoregate.kernel.run.code_digest import digest_tracked
from scoregate.kernel.run.durations import read_durations
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.run_scope import RunShard
from scoregate.kernel.types.sharding.packing import LaunchDuration, choose_shards, pack_launches
from scoregate.kernel.types.sharding.partition import Assignment, Partition, list_work, make_partition

# What decides which trials run, and which results they have.
_SETTINGS = (
    "paths", "suite", "config", "commands", "configs", "max_cases", "repeats", "show_outputs",
    "model", "model_base_url", "model_headers", "cache", "prices", "max_cost", "max_tokens",
)  # fmt: skip
_MOST_NAMES = 5
_MOST_DESCRIBED = 5


def divide_plan(
    plan: Plan,
    base: Run | None,
    settings: Settings,
    tree: git.WorkTree | None,
    *,
    code: str | None,
    shards: int | None,
    target_s: float,
    splits: bool = True,
) -> Partition:
    """Divide a plan among shards.

    Args:
        plan: the plan.
        base: the run whose durations are used; None if there is none.
        settings: the settings of the project.
        tree: what is checked out; None outside of git.
        code: the digest of the code.
        shards: the number of shards; None for as many as the target needs, or one if no duration is known.
        target_s: the seconds that a shard may take.
        splits: whether suites may be split into parts.
    """
    check_shards(settings)
    known = read_durations(plan, base)
    # Without durations, a launch takes as long as most others, or as any other.
    usual = median(launch.total for launch in known.values()) if known else 1.0
    launches = [known.get(launch.name) or LaunchDuration(launch.name, 0.0, seconds=usual) for launch in plan.launches]
    if shards is None and known:
        loads = choose_shards(launches, target_s, splits=splits)
    else:
        loads = pack_launches(launches, shards or 1, splits=splits)
    return make_partition(
        ((seconds if known else 0.0, work) for seconds, work in loads),
        commit=None if tree is None else tree.commit,
        code=code,
        settings=digest_settings(settings),
    )


def check_shards(settings: Settings) -> None:
    """Refuse what a shard can't do.

    Raises:
        UsageError: a setting needs the whole run in one process.
    """
    selection = settings.selection
    problems = {
        "baseline = rerun": settings.baseline_kind is BaselineKind.RERUN,
        "repeats = auto": settings.repeats == "auto",
        "-x or --max-failures": selection.max_failures is not None,
        "--last-failed": selection.failed is not None,
        "--failed-first": bool(selection.first),
    }
    if option := next((name for name, is_set in problems.items() if is_set), None):
        raise UsageError(f"{option} needs the whole run on one machine, so it can't be divided among shards")


async def digest_code(plan: Plan, tree: git.WorkTree | None) -> str | None:
    """The digest of the commit and of the changes to tracked files; None outside of git.

    Files that git doesn't track don't count: jobs download artifacts and create caches in the checkout.
    """
    return None if tree is None else await digest_tracked(plan.root, tree)


def digest_settings(settings: Settings) -> dict[str, str]:
    """The digests of the settings that decide what runs and with what results, by name."""
    values = {name: getattr(settings, name) for name in _SETTINGS}
    values["selection"] = settings.selection.description
    values |= {each.name: each.of(settings) or None for each in FEATURE_SETTINGS if each.is_shared}
    values["evaluators"] = settings.criteria().score_settings
    values["cluster"] = settings.policy().cluster_settings
    values["suites"] = {glob: suite.repeats for glob, suite in settings.suites.items() if suite.repeats is not None}
    return {name: _digest(value) for name, value in values.items() if value not in (None, (), {}, "", [])}


def _digest(value: object) -> str:
    return hashlib.blake2b(to_json(value, serialize_unknown=True), digest_size=8).hexdigest()


def check_partition(
    partition: Partition, plan: Plan, settings: Settings, *, commit: str | None, code: str | None
) -> None:
    """Check that a partition was made for this plan.

    Args:
        partition: the partition.
        plan: the plan of this job.
        settings: the settings of this job.
        commit: the commit that is checked out.
        code: the digest of the code that is checked out.

    Raises:
        UsageError: it was made for another commit, other settings or other suites.
    """
    advice = "Make the plan and run its shards from the same commit, with the same options and settings."
    if None not in (partition.commit, commit) and partition.commit != commit:
        raise UsageError(f"the partition is of commit {partition.commit:.12}, not of {commit:.12}", advice=advice)
    if None not in (partition.code, code) and partition.code != code:
        raise UsageError("the partition is of the same commit with other uncommitted changes", advice=advice)
    own = digest_settings(settings)
    names = sorted(
        name for name in own.keys() | partition.settings.keys() if own.get(name) != partition.settings.get(name)
    )
    if names:
        raise UsageError(f"the partition was made with other settings: {', '.join(names):.200}", advice=advice)
    planned = {launch.name for launch in plan.launches}
    assigned = {each.launch for shard in partition.shards for each in shard.assignments}
    for missing, place in ((assigned - planned, "only in the partition"), (planned - assigned, "not in the partition")):
        if missing:
            raise UsageError(f"{', '.join(sorted(missing)[:_MOST_NAMES])}: {place}", advice=advice)


def restrict_to_shard(plan: Plan, partition: Partition, number: int, settings: Settings) -> Plan:
    """The plan of one shard. Its budget is its share of the run's.

    Args:
        plan: the whole plan.
        partition: the partition.
        number: the number of the shard, from 1.
        settings: the settings of the project.
    """
    assignments = defaultdict[str, list[tuple[int, Assignment]]](list)
    for shard in partition.shards:
        for each in shard.assignments:
            assignments[each.launch].append((shard.number, each))
    budget = dict(_divide_budget(settings, partition.budget_share(number)))
    launches = tuple(
        replace(launch, environment={**launch.environment, **budget, **_parts(assignments[launch.name], number)})
        for launch in plan.launches
        if any(holder == number for holder, _ in assignments[launch.name])
    )
    contents = tuple(_describe_work(shard.assignments) for shard in partition.shards)
    own = RunShard(partition.fingerprint, number, len(partition.shards), partition.shard(number).id, contents=contents)
    return replace(plan, launches=launches, broken=plan.broken if number == 1 else (), shard=own)


def _describe_work(assignments: Sequence[Assignment]) -> str:
    names = list(islice(list_work(assignments), _MOST_DESCRIBED + 1))
    more = ", …" if len(names) > _MOST_DESCRIBED else ""
    return ", ".join(f"{name:.100}" for name in names[:_MOST_DESCRIBED]) + more


def _divide_budget(settings: Settings, share: float) -> Iterator[tuple[str, str]]:
    for name, amount in (("SCOREGATE_MAX_COST", settings.max_cost), ("SCOREGATE_MAX_TOKENS", settings.max_tokens)):
        if amount is not None:
            yield name, str(amount * share)


def _parts(assignments: Sequence[tuple[int, Assignment]], number: int) -> Mapping[str, str]:
    """The variable with the suites and parts of a process; none if it runs everything."""
    take: dict[str, tuple[list[int], int]] = {}
    for holder, each in assignments:
        if each.suite and holder == number:
            take.setdefault(each.suite, ([], each.parts))[0].append(each.part)
    leave = sorted({each.suite for _, each in assignments if each.suite} - take.keys())
    others = any(holder == number and not each.suite for holder, each in assignments)
    if others and not take and not leave:
        return {}
    return {"SCOREGATE_PARTS": json.dumps({"take": take, "leave": leave, "others": others})}
