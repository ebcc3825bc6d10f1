"""Merge the runs of all shards of a partition into the run that one machine would have made."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from scoregate.errors import RecordError, UsageError
from scoregate.kernel.gate.run_rules import find_script_failures
from scoregate.kernel.job.ports import AmendRun
from scoregate.kernel.job.shards.merged_info import (
    SHARD_RUNS,
    check_slots,
    find_common,
    join_names,
    merge_code,
    merge_conditions,
    merge_ends,
)
from scoregate.kernel.job.shards.shard_results import ReadShard, ShardFolder, ShardMerger, read_shard, write_shards
from scoregate.kernel.job.steps import LoadSteps
from scoregate.kernel.judge.archive import RUN_FILE, RunWriter, latest_run, read_head, run_folder
from scoregate.kernel.judge.judge import compare_sides
from scoregate.kernel.judge.judgement import ComparedSides
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report.text import one_line
from scoregate.kernel.types.declarations.declaration import RunFacts
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.runs.confirmations import CONFIRMATIONS, Confirmation, confirmations_of
from scoregate.kernel.types.runs.dependencies import merge_shard_dependencies
from scoregate.kernel.types.runs.model_calls import merge_calls
from scoregate.kernel.types.runs.reuse import REUSED_FROM
from scoregate.kernel.types.runs.run import Conditions, Run, Script
from scoregate.kernel.types.sharding.partition import MISSING_SHARD, MOST_SHARDS
from scoregate.kernel.types.slots import Slots
from scoregate.kernel.types.usage import sum_usage

_MOST_PROBLEMS = 20
_LONGEST_CONTENT = 600
_MOST_NAMED = 5


def find_shards(paths: Iterable[Path]) -> tuple[ShardFolder, ...]:
    """The folders that hold runs of shards; none if no run is of a shard.

    A folder without a run counts as nothing if others are of shards: its shard is missing.

    Raises:
        UsageError: only some of the runs are of shards, or they are of several partitions, commits or versions of
            scoregate.
    """
    shards: list[ShardFolder] = []
    others: list[Path] = []
    for path in paths:
        with suppress(RecordError):
            folder = run_folder(latest_run(path))
            head = read_head(folder / RUN_FILE)
            check_slots(Slots(head.slots))
            if head.scope.shard is None:
                others.append(path)
            else:
                shards.append(ShardFolder(folder, head, head.scope.shard))
    if shards and others:
        raise UsageError(f"{others[0]} is not a run of a shard, but {shards[0].path} is", advice="Merge them apart.")
    if len(partitions := sorted({each.shard.partition for each in shards})) > 1:
        raise UsageError(
            f"the shards are of different partitions: {', '.join(partitions[:3])}",
            advice="Plan once, and give the file of `scoregate plan --output` to every shard with --partition.",
        )
    if len(commits := sorted({each.head.code.commit or "none" for each in shards})) > 1:
        raise UsageError(f"the shards are of several commits: {', '.join(each[:7] for each in commits)}")
    if len(versions := sorted({each.head.code.version for each in shards})) > 1:
        raise UsageError(
            f"the shards are of different versions of scoregate: {_name_versions(shards, versions)}",
            advice="Install the same version in every job (`scoregate==…`), and run the shards of the others again.",
        )
    numbers = {each.shard.of for each in shards}
    if len(numbers) > 1 or not all(1 <= each.shard.number <= each.shard.of <= MOST_SHARDS for each in shards):
        raise UsageError("the shards do not agree on their number", advice="Run all shards again.")
    return tuple(shards)


def _name_versions(shards: Sequence[ShardFolder], versions: Sequence[str]) -> str:
    numbers = {
        version: sorted({each.shard.number for each in shards if each.head.code.version == version})
        for version in versions
    }
    return "; ".join(
        f"{one_line(version, 40)} (shard {', '.join(map(str, numbers[version][:_MOST_NAMED]))})"
        for version in versions[:_MOST_NAMED]
    )


def merge_shards(
    folders: Sequence[ShardFolder], folder: Path, settings: Settings, *, load: LoadSteps = lambda _: (), keep: int = 0
) -> Run:
    """Write the runs of shards as one run.

    Of several runs of a shard, the first complete one counts. Only the columns of the merged run are in memory.

    Args:
        folders: the runs of one partition.
        folder: the folder of the merged run.
        settings: the settings of the project.
        load: loads the steps of features, which merge what they have measured more in shards.
        keep: how many earlier runs are kept.

    Raises:
        RecordError: it can't be written.
    """
    by_number = defaultdict[int, list[ShardFolder]](list)
    for each in folders:
        by_number[each.shard.number].append(each)
    shards = [_choose(by_number[number]) for number in sorted(by_number)]
    missing = sorted(set(range(1, folders[0].shard.of + 1)) - by_number.keys())
    with RunWriter(folder, keep=keep) as writer:
        merging = write_shards(shards, writer)
        run = writer.finish(_make_run(shards, missing, merging, settings))
    for step in load(RunFacts(settings, runs=(run,), merges_shards=True)):
        run = step.merge_shards(run, {each.path: each.shard for each in shards}, folder, settings)
    return run


def _choose(folders: Sequence[ShardFolder]) -> ReadShard:
    """The first complete run of a shard; without one, that with the most trials."""
    read: list[ReadShard] = []
    for each in sorted(folders, key=lambda each: (not each.head.end.complete, each.head.end.finished, str(each.path))):
        shard = read_shard(each)
        if not shard.problems:
            return shard
        read.append(shard)
    return max(read, key=lambda shard: sum(shard.trials))


def _make_run(shards: Sequence[ReadShard], missing: Sequence[int], merging: ShardMerger, settings: Settings) -> Run:
    runs = [shard.run for shard in shards]
    suites = merging.results()
    labels = merging.labels(suites)
    of, end = shards[0].shard.of, merge_ends(runs)
    reused = (each for run in runs if (each := run.slots.get(REUSED_FROM)) is not None)
    slots = runs[0].slots.put(CONFIRMATIONS, tuple(_relabel_confirmations(shards, labels)) or None)
    return replace(
        runs[0],
        id=uuid.uuid4().hex,
        started=min(run.started for run in runs),
        end=replace(end, complete=end.complete and not missing),
        code=merge_code(runs, settings.message),
        conditions=_merge_conditions(runs),
        scope=replace(
            runs[0].scope,
            skipped=join_names(run.scope.skipped for run in runs),
            left_out=join_names(run.scope.left_out for run in runs),
            shard=None,
        ),
        suites=tuple(suites),
        scripts=(*_merge_scripts(shards), *_report_problems(shards, missing, of)),
        notices=tuple(_describe(shards, of)),
        policy=(settings.proposed or settings).policy().to_record(),
        slots=slots.put(REUSED_FROM, next(reused, None)).put(SHARD_RUNS, merging.list_runs(shards)),
        compared_with=None,
        model_calls=merge_calls(calls for run in runs for calls in run.model_calls),
        dependencies=merge_shard_dependencies(
            [(run.dependencies, [script.name for script in run.scripts]) for run in runs]
        ),
    )


def _merge_conditions(runs: Sequence[Run]) -> Conditions | None:
    """The conditions that all shards have; None where they differ."""
    merged = merge_conditions([(str(number), run) for number, run in enumerate(runs)])
    known = [run.conditions for run in runs if run.conditions is not None]
    if merged is None:
        return None
    tracked, untracked = find_common(each.tracked for each in known), find_common(each.untracked for each in known)
    return replace(merged, tracked=tracked, untracked=untracked)


def _relabel_confirmations(
    shards: Iterable[ReadShard], labels: Mapping[tuple[int, str], str]
) -> Iterator[Confirmation]:
    for shard in shards:
        for each in confirmations_of(shard.run):
            yield replace(each, suite=labels.get((shard.shard.number, each.suite), each.suite))


def _merge_scripts(shards: Sequence[ReadShard]) -> Iterator[Script]:
    """Each script once. One that failed in any shard has failed."""
    by_name = defaultdict[str, list[tuple[bool, Script]]](list)
    for shard in shards:
        failures = find_script_failures(shard.run)
        for script in shard.run.scripts:
            by_name[script.name].append((script.name in failures, script))
    for name in sorted(by_name):
        worst = max(by_name[name], key=lambda each: (each[0], bool(each[1].exit_code)))[1]
        scripts = [script for _, script in by_name[name]]
        usage = sum_usage(script.usage for script in scripts if script.usage is not None)
        yield replace(worst, duration_s=sum(script.duration_s for script in scripts), usage=usage)


def _report_problems(shards: Sequence[ReadShard], missing: Sequence[int], of: int) -> Iterator[Script]:
    """What makes the merged run unmeasurable, as scripts that failed."""
    contents = shards[0].shard.contents
    for number in missing:
        content = contents[number - 1][:_LONGEST_CONTENT] if len(contents) == of else ""
        problem = f"its run is missing; it runs {content}" if content else "its run is missing"
        yield Script(
            f"shard {number} of {of}", error=ErrorInfo(MISSING_SHARD, problem, advice="Run it again, and merge again.")
        )
    bases = {shard.shard.base for shard in shards} - {""}
    if len(bases) > 1:
        yield Script("shards", error=_make_base_error("the shards used different baselines"))


def _make_base_error(message: str) -> ErrorInfo:
    return ErrorInfo("BaselinesDiffer", message, advice="Name one baseline in all jobs, and run all shards again.")


def _describe(shards: Sequence[ReadShard], of: int) -> Iterator[str]:
    yield f"merged from {len(shards)} of {of} shards of partition {shards[0].shard.partition}"
    yield from dict.fromkeys(notice for shard in shards for notice in shard.run.notices)
    problems = [f"shard {shard.shard.number}: {problem}" for shard in shards for problem in shard.problems]
    yield from problems[:_MOST_PROBLEMS]


def check_with_baseline(base: str, load: LoadSteps, amend: AmendRun, sides: ComparedSides) -> Run:
    """The run with what only the whole run and its baseline show, such as another baseline than the shards'.

    Args:
        base: the id of the baseline that the shards used; empty if they used none.
        load: loads the steps of features, which check what they have measured.
        amend: writes the run again.
        sides: the merged run, and what it is judged with.
    """
    run, baseline = sides.run, sides.baseline
    compare = partial(compare_sides, sides, load=load)
    changed = run
    for step in load(RunFacts(sides.settings, runs=(run,), slots=sides.slots, merges_shards=True)):
        changed = step.check_merged(changed, baseline, compare)
    if base and (baseline.run is None or baseline.run.id != base):
        error = _make_base_error("the shards used another baseline for battles or confirmations than this command")
        changed = replace(changed, scripts=(*changed.scripts, Script("shards", error=error)))
    if changed is not run:
        amend(changed)
    return changed
