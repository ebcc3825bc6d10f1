"""Merge the runs of all shards of a partition into the run that one machine would have made."""

from __future__ import annotations

import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from scoregate import __version__
from scoregate.ci.archive import RUN_FILE, RunHead, RunWriter, latest_run, read_head, read_run, run_folder
from scoregate.ci.archive.cases import UNREADABLE, CasesFile, parse_cases
from scoregate.ci.archive.folder import CASES_FILE
from scoregate.ci.baseline import Baseline
from scoregate.ci.extra_runs import MOST_CASES, list_failing_cases
from scoregate.ci.merge_suites import SuiteParts, SuiteSources, merge_suite, move_line
from scoregate.ci.pipeline import judge_run
from scoregate.ci.ports import AmendRun
from scoregate.ci.resume import suite_key
from scoregate.ci.settings import Confirm, Settings
from scoregate.ci.shard_run import find_shard_problems
from scoregate.core.cases import CaseKey, CaseResult, Columns
from scoregate.core.dependencies import merge_shard_dependencies
from scoregate.core.event_values import ErrorInfo
from scoregate.core.gate.run_rules import find_script_failures
from scoregate.core.model_calls import merge_calls
from scoregate.core.partition import MISSING_SHARD, MOST_SHARDS
from scoregate.core.records import record
from scoregate.core.run import Confirmation, Run, RunShard, Script, SuiteResult
from scoregate.core.suite_labels import label_suites
from scoregate.core.usage import sum_usage
from scoregate.errors import RecordError, UsageError

_MOST_PROBLEMS = 20
_LONGEST_CONTENT = 600
_Key: TypeAlias = tuple[str | None, str, str, int]


@record
class ShardFolder:
    """A folder with the run of a shard: what its head says."""

    path: Path
    head: RunHead
    shard: RunShard


@record
class ReadShard:
    """A shard that was read and checked: its run without its trials, and why it is not complete."""

    path: Path
    shard: RunShard
    run: Run
    trials: tuple[int, ...]
    problems: tuple[str, ...]


def find_shards(paths: Iterable[Path]) -> tuple[ShardFolder, ...]:
    """The folders that hold runs of shards; none if no run is of a shard.

    A folder without a run counts as nothing if others are of shards: its shard is missing.

    Raises:
        UsageError: only some of the runs are of shards, or they are of several partitions or commits.
    """
    shards: list[ShardFolder] = []
    others: list[Path] = []
    for path in paths:
        with suppress(RecordError):
            folder = run_folder(latest_run(path))
            head = read_head(folder / RUN_FILE)
            if head.shard is None:
                others.append(path)
            else:
                shards.append(ShardFolder(folder, head, head.shard))
    if shards and others:
        raise UsageError(f"{others[0]} is no run of a shard, but {shards[0].path} is", advice="Merge them apart.")
    if len(found := sorted({each.shard.partition for each in shards})) > 1:
        raise UsageError(
            f"the shards are of different partitions: {', '.join(found[:3])}",
            advice="Plan once, and give the file of `scoregate plan --output` to every shard with --partition.",
        )
    if len(commits := sorted({each.head.commit or "none" for each in shards})) > 1:
        raise UsageError(f"the shards are of several commits: {', '.join(each[:7] for each in commits)}")
    numbers = {each.shard.of for each in shards}
    if len(numbers) > 1 or not all(1 <= each.shard.number <= each.shard.of <= MOST_SHARDS for each in shards):
        raise UsageError("the shards do not agree on their number", advice="Run all shards again.")
    return tuple(shards)


def merge_shards(folders: Sequence[ShardFolder], folder: Path, settings: Settings, *, keep: int = 0) -> Run:
    """Write the runs of shards as one run.

    Of several runs of a shard, the first complete one counts. Only the columns of the merged run are in memory.

    Args:
        folders: the runs of one partition.
        folder: the folder of the merged run.
        settings: the settings of the project.
        keep: how many earlier runs are kept.

    Raises:
        RecordError: it can't be written.
    """
    by_number = defaultdict[int, list[ShardFolder]](list)
    for each in folders:
        by_number[each.shard.number].append(each)
    shards = [_choose(by_number[number]) for number in sorted(by_number)]
    missing = sorted(set(range(1, folders[0].shard.of + 1)) - by_number.keys())
    merging = _Merging()
    for shard in shards:
        merging.add_suites(shard)
    with RunWriter(folder, keep=keep) as writer:
        for number, shard in enumerate(shards):
            for line in merging.read_lines(number, shard):
                writer.add_line(line)
        return writer.finish(_make_run(shards, missing, merging, settings))


def _choose(folders: Sequence[ShardFolder]) -> ReadShard:
    """The first complete run of a shard; without one, that with the most trials."""
    read: list[ReadShard] = []
    for each in sorted(folders, key=lambda each: (not each.head.complete, each.head.finished, str(each.path))):
        shard = _read_shard(each)
        if not shard.problems:
            return shard
        read.append(shard)
    return max(read, key=lambda shard: sum(shard.trials))


def _read_shard(found: ShardFolder) -> ReadShard:
    run = read_run(found.path)
    problems = tuple(find_shard_problems(run))
    trials = tuple(len(suite.columns) for suite in run.suites)
    suites = tuple(replace(suite, columns=Columns(), read=None) for suite in run.suites)
    return ReadShard(found.path, found.shard, replace(run, suites=suites, read=None, extras=()), trials, problems)


@dataclass(slots=True)
class _Merging:
    """The suites of the merged run, in the order of the shards, while their trials are added.

    A suite of the same script, id and parameters is one suite, whatever shards its parts are in.
    """

    sources: dict[_Key, list[SuiteParts]] = field(default_factory=dict)
    columns: list[Columns] = field(default_factory=list)
    _indices: list[list[int]] = field(default_factory=list)
    _keys: dict[int, set[CaseKey]] = field(default_factory=dict)

    def add_suites(self, shard: ReadShard) -> None:
        """Add the suites of a shard, which must be the next one."""
        seen = defaultdict[tuple[str | None, str, str], int](int)
        order = {key: index for index, key in enumerate(self.sources)}
        indices = []
        for suite, trials in zip(shard.run.suites, shard.trials, strict=True):
            plain = suite_key(suite)
            key = (*plain, seen[plain])
            seen[plain] += 1
            if key not in self.sources:
                order[key] = len(order)
                self.sources[key] = []
                self.columns.append(Columns())
            else:  # trials of another shard must not be counted again
                self._keys.setdefault(order[key], set())
            self.sources[key].append(SuiteParts(shard.shard.number, suite, trials))
            indices.append(order[key])
        self._indices.append(indices)

    def read_lines(self, number: int, shard: ReadShard) -> Iterator[bytes]:
        """Read the trials of a shard, as lines of the merged run, and add them to its columns."""
        indices = self._indices[number]
        for line, case in _read_valid_cases(shard):
            index = indices[case.suite]
            if (keys := self._keys.get(index)) is not None:
                if case.key in keys:
                    continue
                keys.add(case.key)
            self.columns[index].add(case)
            yield move_line(line, case, index)

    def results(self) -> list[SuiteResult]:
        """The merged suites, with labels that are unique in the whole run."""
        merged = [
            merge_suite(SuiteSources(tuple(parts)), columns)
            for parts, columns in zip(self.sources.values(), self.columns, strict=True)
        ]
        return [replace(suite, label=label) for suite, label in zip(merged, label_suites(merged), strict=True)]

    def labels(self, suites: Sequence[SuiteResult]) -> Mapping[tuple[int, str], str]:
        """The label in the merged run, by the shard and the label in it."""
        return {
            (each.shard, each.suite.label): suite.label
            for suite, parts in zip(suites, self.sources.values(), strict=True)
            for each in parts
        }


def _read_valid_cases(shard: ReadShard) -> Iterator[tuple[bytes, CaseResult]]:
    """The lines and trials that can be read, each once; the reader of the run has reported the others."""
    suites, seen = len(shard.run.suites), set[tuple[int, CaseKey]]()
    with suppress(*UNREADABLE):
        for batch in CasesFile(shard.path / CASES_FILE).lines():
            for line, case in zip(batch.lines, parse_cases(batch.lines), strict=True):
                if isinstance(case, ValueError) or not 0 <= case.suite < suites or (case.suite, case.key) in seen:
                    continue
                if not shard.run.complete:  # in a complete run, each trial is there once
                    seen.add((case.suite, case.key))
                yield line, case


def _make_run(shards: Sequence[ReadShard], missing: Sequence[int], merging: _Merging, settings: Settings) -> Run:
    runs = [shard.run for shard in shards]
    suites = merging.results()
    labels = merging.labels(suites)
    of = shards[0].shard.of
    return replace(
        runs[0],
        id=uuid.uuid4().hex,
        started=min(run.started for run in runs),
        finished=max((run.finished for run in runs), default=time.time()),
        version=__version__,
        message=settings.message or next((run.message for run in runs if run.message), None),
        dirty=any(run.dirty for run in runs),
        attempt=max(run.attempt for run in runs),
        complete=not missing and all(run.complete for run in runs),
        suites=tuple(suites),
        scripts=(*_merge_scripts(shards), *_report_problems(shards, missing, of)),
        notices=tuple(_describe(shards, of)),
        policy=asdict((settings.proposed or settings).policy()),
        skipped=_union(run.skipped for run in runs),
        left_out=_union(run.left_out for run in runs),
        confirmations=tuple(_relabel_confirmations(shards, labels)),
        compared_with=None,
        reused_from=next((run.reused_from for run in runs if run.reused_from), None),
        model_calls=merge_calls(calls for run in runs for calls in run.model_calls),
        shard=None,
        dependencies=merge_shard_dependencies(
            [(run.dependencies, [script.name for script in run.scripts]) for run in runs]
        ),
    )


def _union(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in names for name in each))


def _relabel_confirmations(
    shards: Iterable[ReadShard], labels: Mapping[tuple[int, str], str]
) -> Iterator[Confirmation]:
    for shard in shards:
        for each in shard.run.confirmations:
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
        what = contents[number - 1][:_LONGEST_CONTENT] if len(contents) == of else ""
        problem = f"its run is missing; it runs {what}" if what else "its run is missing"
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


def check_with_baseline(settings: Settings, base: str, amend: AmendRun, run: Run, baseline: Baseline) -> Run:
    """What only the whole run and its baseline show: too many confirmations, and another baseline than the shards'.

    Every shard confirms at most 15 new failures. The whole run counts those that one machine would have run again, the
    critical cases first.

    Args:
        settings: the settings of the project.
        base: the id of the baseline that the shards used; empty if they used none.
        amend: writes the run again.
        run: the merged run.
        baseline: what it is compared with.
    """
    changed = run
    if len(run.confirmations) > MOST_CASES:
        comparison = judge_run(replace(run, confirmations=()), baseline, settings, with_slices=False).comparison
        cases = {(each.label, each.case) for each in list_failing_cases(comparison, Confirm.ALL)}
        kept = tuple(each for each in run.confirmations if (each.suite, each.case) in cases)
        changed = replace(changed, confirmations=kept)
    if base and (baseline.run is None or baseline.run.id != base):
        error = _make_base_error("the shards used another baseline for battles or confirmations than this command")
        changed = replace(changed, scripts=(*changed.scripts, Script("shards", error=error)))
    if changed is not run:
        amend(changed)
    return changed
