"""A run with the trials of earlier attempts and pushes as further repeats of its cases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, nan

from scoregate.features.attempts.keys import PooledRuns
from scoregate.kernel.compare.compared_suites import pair_suites
from scoregate.kernel.types.fingerprint_changes import describe_fingerprint_change
from scoregate.kernel.types.media import join_media
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseKey, CaseResult
from scoregate.kernel.types.runs.evidence import TrialOrigin, TrialRole, TrialSource, Use
from scoregate.kernel.types.runs.joined_columns import count_repeats, join_columns
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.runs.suite_states import digest_states

_SOURCE = 2  # the number of the source of their trials


@record
class _AddedSuite:
    """The trials that a suite gets: the place of the suite, their keys, and their first repeat."""

    place: int
    keys: frozenset[CaseKey]
    first_repeat: int


@record
class _AddedRun:
    """An earlier run, and what it adds, by the place of the suite in it."""

    run: Run
    suites: Mapping[int, _AddedSuite]

    def read(self) -> Iterator[CaseResult]:
        """Its trials as those of the run."""
        for case in self.run.cases:
            added = self.suites.get(case.suite)
            if added is not None and case.key in added.keys:
                repeat = added.first_repeat + case.repeat
                yield replace(case, suite=added.place, repeat=repeat, reused=self.run.id)


def pool_earlier(run: Run, compared: Collection[str] = ()) -> tuple[Run, PooledRuns | None]:
    """The run with the trials of its earlier attempts and pushes, and how many count; None without any.

    Trials that met an error, and those of cases that were changed, do not count. Neither do scores of an evaluator
    that gave this attempt none for the case: lost scores are those of this attempt. Of a push, suites count that
    nothing changed since then, and none if a control measures how far the provider has moved since the base's run.

    Args:
        run: the run with its companions. That of a part of the cases counts alone.
        compared: the ids of the runs that it is compared with, which are no attempts.
    """
    pool = _Pool(run, list(run.suites))
    if run.scope.is_whole:
        for number, attempt in enumerate(run.companions_of(TrialRole.MAIN), 1):
            if attempt.id not in compared:
                pool.add_attempt(attempt, number)
        pushes = () if run.companions_of(TrialRole.CONTROL) else run.companions_of(TrialRole.PUSH)
        states = digest_states(run) if pushes else {}
        for push in pushes:
            if push.id not in compared:
                pool.add_push(push, states)
    return pool.finish()


@dataclass(slots=True)
class _Pool:
    """Collects the trials of earlier runs.

    Attributes:
        run: the run.
        suites: its suites with the trials so far.
        attempts: the attempts that add any.
        pushes: the same of pushes.
        gaps: why suites of attempts do not count.
    """

    run: Run
    suites: list[SuiteResult]
    attempts: list[_AddedRun] = field(default_factory=list)
    pushes: list[_AddedRun] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)

    def add_attempt(self, attempt: Run, number: int) -> None:
        """Add what an attempt has measured."""
        places = dict[int, int]()
        for index, place in self._pair_measured(attempt):
            if problem := _find_problem(self.run, self.run.suites[index], attempt, attempt.suites[place]):
                self.gaps.append(f"{self.run.suites[index].label} of attempt {number}: {problem}")
            else:
                places[index] = place
        self.attempts += self._add(attempt, places)

    def add_push(self, push: Run, states: Mapping[str, str]) -> None:
        """Add what a push has measured of suites that nothing changed since then, by the states of their scripts."""
        then = digest_states(push)
        same = {script for script, state in states.items() if then.get(script) == state}
        places = {
            index: place
            for index, place in self._pair_measured(push)
            if self.run.suites[index].script in same
            and not _find_problem(self.run, self.run.suites[index], push, push.suites[place])
        }
        self.pushes += self._add(push, places)

    def _pair_measured(self, earlier: Run) -> Iterator[tuple[int, int]]:
        """The places of the suites that both runs measured, and did not take from the base's run."""
        for index, place in pair_suites(self.run.suites, earlier.suites):
            suite, other = self.run.suites[index], earlier.suites[place]
            if suite.script == other.script and suite.evidence.counts(_MEASURED) and other.evidence.counts(_MEASURED):
                yield index, place

    def _add(self, earlier: Run, places: Mapping[int, int]) -> list[_AddedRun]:
        parts = dict[int, _AddedSuite]()
        for index, place in places.items():
            own, other = self.run.suites[index], earlier.suites[place]
            if rows := _list_rows(own, other):
                known = self.suites[index].columns
                parts[place] = _AddedSuite(index, frozenset(map(other.columns.key, rows)), count_repeats(known))
                columns = _leave_out_lost(own.columns, other.columns)
                self.suites[index] = self.suites[index].with_columns(join_columns(known, columns, rows, _SOURCE))
        return [_AddedRun(earlier, parts)] if parts else []

    def finish(self) -> tuple[Run, PooledRuns | None]:
        """The run with all trials, and what counts."""
        run, added = self.run, [*self.attempts, *self.pushes]
        if not added and not self.gaps:
            return run, None
        places = {suite.place for each in self.pushes for suite in each.suites.values()}
        pooled = PooledRuns(
            max(run.end.attempt, len(run.companions_of(TrialRole.MAIN)) + 1),
            len(self.attempts),
            len(self.pushes),
            tuple(run.suites[place].label for place in sorted(places)),
            tuple(self.gaps),
        )
        if not added:
            return run, pooled
        suites = tuple(_add_readers(self.suites, run.suites, added))
        return replace(
            run,
            suites=suites,
            read=_chain(run.read, added),
            read_media=join_media(each.read_media for each in (run, *(each.run for each in added))),
        ), pooled


# What counts as a point of histories was measured by the run itself, also in the arm without a skill.
_MEASURED = Use.HISTORY


def _find_problem(run: Run, suite: SuiteResult, earlier: Run, other: SuiteResult) -> str:
    """Why the trials of a suite don't count; empty if they do."""
    if added := other.evaluators.keys() - suite.evaluators.keys():
        return f"{min(added)} is no evaluator any more"
    for name in suite.evaluators.keys() & other.evaluators.keys():
        if change := describe_fingerprint_change(suite.evaluators[name], other.evaluators[name]):
            return f"{name}: {change}"
    if any(info.battles for info in suite.evaluators.values()) and not _have_same_base(run, earlier):
        return "its outputs were compared with those of another baseline"
    return ""


def _have_same_base(run: Run, earlier: Run) -> bool:
    base, other = run.compared_with, earlier.compared_with
    return base is not None and other is not None and base.id == other.id != ""


def _list_rows(suite: SuiteResult, other: SuiteResult) -> list[int]:
    """The trials of a suite of an earlier run that count."""
    columns, no_evidence = suite.columns, set(suite.evidence.rows_without(_MEASURED))
    digests = {case: columns.digests[row] for row, case in enumerate(columns.hashes) if row not in no_evidence}
    errored = other.columns.errored_rows().union(*other.columns.unscaled.values())
    left_out = errored.union(other.evidence.rows_without(_MEASURED))
    return [
        row
        for row, case in enumerate(other.columns.hashes)
        if row not in left_out and case in digests and other.columns.digests[row] == digests[case]
    ]


def _leave_out_lost(columns: Columns, other: Columns) -> Columns:
    """The trials of an earlier run without scores of cases that the evaluator gave none now, and no label either."""
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
    suites: Sequence[SuiteResult], own: Sequence[SuiteResult], added: Sequence[_AddedRun]
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
    read: Callable[[], Iterable[CaseResult]] | None, added: Sequence[_AddedRun], place: int | None = None
) -> Callable[[], Iterable[CaseResult]]:
    """Reads the trials of the run, or of one of its suites, and then those of earlier runs."""

    def read_all() -> Iterator[CaseResult]:
        yield from read() if read is not None else ()
        for each in added:
            yield from (case for case in each.read() if place is None or case.suite == place)

    return read_all
