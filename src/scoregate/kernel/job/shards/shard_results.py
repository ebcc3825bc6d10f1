"""The runs of shards, read one after the other and merged while they are read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from scoregate.kernel.job.shards.merge_suites import SuiteParts, SuiteSources, merge_suite, move_line
from scoregate.kernel.job.shards.merged_info import ShardRun
from scoregate.kernel.job.shards.shard_run import find_shard_problems
from scoregate.kernel.judge.archive import RunHead, RunWriter, read_run
from scoregate.kernel.judge.archive.cases import parse_cases
from scoregate.kernel.judge.archive.cases_file import UNREADABLE, CasesFile
from scoregate.kernel.judge.archive.folder import CASES_FILE
from scoregate.kernel.run.reuse import suite_key
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseKey, CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.runs.run_scope import RunShard
from scoregate.kernel.types.runs.suite_labels import label_suites

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


def read_shard(folder: ShardFolder) -> ReadShard:
    """Read the run of a shard, and check whether it is complete.

    Args:
        folder: its folder.

    Raises:
        RecordError: it can't be read.
    """
    run = read_run(folder.path)
    problems = tuple(find_shard_problems(run))
    trials = tuple(len(suite.columns) for suite in run.suites)
    suites = tuple(replace(suite, trials=Trials(sources=suite.trials.sources)) for suite in run.suites)
    return ReadShard(folder.path, folder.shard, replace(run, suites=suites, read=None, companions={}), trials, problems)


def number_suites(suites: Iterable[SuiteResult]) -> Iterator[tuple[_Key, SuiteResult]]:
    """Suites with what identifies each of them in all shards of a partition."""
    seen = defaultdict[tuple[str | None, str, str], int](int)
    for suite in suites:
        plain = suite_key(suite)
        yield (*plain, seen[plain]), suite
        seen[plain] += 1


@dataclass(slots=True)
class ShardMerger:
    """The suites of a merged run, in the order of the shards, while their trials are added.

    A suite of the same script, id and parameters is one suite, whatever shards its parts are in.
    """

    sources: dict[_Key, list[SuiteParts]] = field(default_factory=dict)
    columns: list[Columns] = field(default_factory=list)
    _indices: list[list[int]] = field(default_factory=list)
    _keys: dict[int, set[CaseKey]] = field(default_factory=dict)
    _trials: list[tuple[int, ...]] = field(default_factory=list)

    def add_suites(self, shard: ReadShard) -> None:
        """Add the suites of a shard, which must be the next one."""
        order = {key: index for index, key in enumerate(self.sources)}
        indices = []
        for (key, suite), trials in zip(number_suites(shard.run.suites), shard.trials, strict=True):
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
        before = [len(columns) for columns in self.columns]
        for line, case in _read_valid_cases(shard):
            index = indices[case.suite]
            if (keys := self._keys.get(index)) is not None:
                if case.key in keys:
                    continue
                keys.add(case.key)
            self.columns[index].add(case)
            yield move_line(line, case, index)
        self._trials.append(tuple(len(columns) - known for columns, known in zip(self.columns, before, strict=True)))

    def list_runs(self, shards: Sequence[ReadShard]) -> tuple[ShardRun, ...]:
        """The runs of the shards that were read, with the numbers of their trials."""
        return tuple(ShardRun(shard.run.id, trials) for shard, trials in zip(shards, self._trials, strict=True))

    def results(self, *, of_parts: bool = True) -> list[SuiteResult]:
        """The merged suites, with labels that are unique in the whole run.

        Args:
            of_parts: whether the parts of the shards have to be the whole suite.
        """
        merged = [
            merge_suite(SuiteSources(tuple(parts)), columns, of_parts=of_parts)
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
        for batch in CasesFile.open(shard.path / CASES_FILE).lines():
            for line, case in zip(batch.lines, parse_cases(batch.lines), strict=True):
                if isinstance(case, ValueError) or not 0 <= case.suite < suites or (case.suite, case.key) in seen:
                    continue
                if not shard.run.end.complete:  # in a complete run, each trial is there once
                    seen.add((case.suite, case.key))
                yield line, case


def write_shards(shards: Sequence[ReadShard], writer: RunWriter) -> ShardMerger:
    """Write the trials of shards as those of one run; returns its suites.

    Args:
        shards: the shards, by number.
        writer: writes the merged run.

    Raises:
        RecordError: it can't be written.
    """
    merging = ShardMerger()
    for shard in shards:
        merging.add_suites(shard)
    for number, shard in enumerate(shards):
        writer.add_media_of(shard.run)
        for line in merging.read_lines(number, shard):
            writer.add_line(line)
    return merging
