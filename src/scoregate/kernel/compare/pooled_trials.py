"""Trials of other runs of the same code as further repeats of the cases of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, nan

from scoregate.kernel.compare.compared_suites import pair_suites
from scoregate.kernel.types.media import join_media
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseKey, CaseResult
from scoregate.kernel.types.runs.evidence import TrialOrigin, TrialSource, Use
from scoregate.kernel.types.runs.joined_columns import count_repeats, join_columns
from scoregate.kernel.types.runs.run import Run, SuiteResult

_SOURCE = 2  # the number of the source of their trials
# What counts as a point of histories was measured by the run itself, also in the arm without a skill.
MEASURED = Use.HISTORY


@record
class _AddedSuite:
    """The trials that a suite gets: the place of the suite, their keys, and their first repeat."""

    place: int
    keys: frozenset[CaseKey]
    first_repeat: int


@record
class AddedRun:
    """Another run, and what it adds, by the place of the suite in it."""

    run: Run
    suites: Mapping[int, _AddedSuite]

    @property
    def places(self) -> frozenset[int]:
        """The places of the suites that get trials."""
        return frozenset(suite.place for suite in self.suites.values())

    def read(self) -> Iterator[CaseResult]:
        """Its trials as those of the run."""
        for case in self.run.cases:
            added = self.suites.get(case.suite)
            if added is not None and case.key in added.keys:
                repeat = added.first_repeat + case.repeat
                yield replace(case, suite=added.place, repeat=repeat, reused=self.run.id)


@dataclass(slots=True)
class TrialPool:
    """Collects the trials of other runs.

    Trials that met an error, and those of cases that were changed, do not count. Neither do scores of an evaluator that
    gave the run none for the case: lost scores are those of the run.

    Attributes:
        run: the run.
        suites: its suites with the trials so far.
        added: the runs that add any.
    """

    run: Run
    suites: list[SuiteResult]
    added: list[AddedRun] = field(default_factory=list)

    @classmethod
    def of(cls, run: Run) -> TrialPool:
        """A pool with the trials of a run alone."""
        return cls(run, list(run.suites))

    def pair_measured(self, other: Run) -> Iterator[tuple[int, int]]:
        """The places of the suites that both runs measured, and did not take from the base's run."""
        for index, place in pair_suites(self.run.suites, other.suites):
            suite, added = self.run.suites[index], other.suites[place]
            if suite.script == added.script and suite.evidence.counts(MEASURED) and added.evidence.counts(MEASURED):
                yield index, place

    def add(self, other: Run, places: Mapping[int, int]) -> bool:
        """Add what another run has measured; returns whether that is anything.

        Args:
            other: the run.
            places: the places of suites of the pool, and of the same suites in the other run.
        """
        parts = dict[int, _AddedSuite]()
        for index, place in places.items():
            own, added = self.run.suites[index], other.suites[place]
            if rows := _list_rows(own, added):
                known = self.suites[index].columns
                parts[place] = _AddedSuite(index, frozenset(map(added.columns.key, rows)), count_repeats(known))
                columns = _leave_out_lost(own.columns, added.columns)
                self.suites[index] = self.suites[index].with_columns(join_columns(known, columns, rows, _SOURCE))
        if parts:
            self.added.append(AddedRun(other, parts))
        return bool(parts)

    def finish(self) -> Run:
        """The run with all trials."""
        run = self.run
        if not self.added:
            return run
        return replace(
            run,
            suites=tuple(_add_readers(self.suites, run.suites, self.added)),
            read=_chain(run.read, self.added),
            read_media=join_media(each.read_media for each in (run, *(each.run for each in self.added))),
        )


def _list_rows(suite: SuiteResult, other: SuiteResult) -> list[int]:
    """The trials of a suite of another run that count."""
    columns, no_evidence = suite.columns, set(suite.evidence.rows_without(MEASURED))
    digests = {case: columns.digests[row] for row, case in enumerate(columns.hashes) if row not in no_evidence}
    errored = other.columns.errored_rows().union(*other.columns.unscaled.values())
    left_out = errored.union(other.evidence.rows_without(MEASURED))
    return [
        row
        for row, case in enumerate(other.columns.hashes)
        if row not in left_out and case in digests and other.columns.digests[row] == digests[case]
    ]


def _leave_out_lost(columns: Columns, other: Columns) -> Columns:
    """The trials of another run without scores of cases that the evaluator gave none now, and no label either."""
    scores = dict(other.scores)
    for name, column in other.scores.items():
        own = columns.scores.get(name, ())
        known = {case for case, score in zip(columns.hashes, own, strict=False) if isfinite(score)}
        known.update(columns.hashes[row] for row in columns.deferred.get(name, ()))
        lost = [row for row, case in enumerate(other.hashes) if case not in known and row < len(column)]
        if lost:
            scores[name] = column[:]
            for row in lost:
                scores[name][row] = nan
    return replace(other, scores=scores)


def _add_readers(
    suites: Sequence[SuiteResult], own: Sequence[SuiteResult], added: Sequence[AddedRun]
) -> Iterator[SuiteResult]:
    """The suites with their trials read from all runs."""
    for place, (suite, before) in enumerate(zip(suites, own, strict=True)):
        if suite is before:
            yield suite
            continue
        trials = suite.trials
        sources = (*trials.sources, TrialSource(TrialOrigin.ATTEMPT))
        yield replace(suite, trials=replace(trials, sources=sources, read=_chain(trials.read, added, place)))


def _chain(
    read: Callable[[], Iterable[CaseResult]] | None, added: Sequence[AddedRun], place: int | None = None
) -> Callable[[], Iterable[CaseResult]]:
    """Reads the trials of the run, or of one of its suites, and then those of the others."""

    def read_all() -> Iterator[CaseResult]:
        yield from read() if read is not None else ()
        for each in added:
            yield from (case for case in each.read() if place is None or case.suite == place)

    return read_all
