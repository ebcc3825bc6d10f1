"""A run with the trials of earlier attempts and pushes as further repeats of its cases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from scoregate.features.attempts.keys import PooledAttempts
from scoregate.kernel.compare.compared_suites import pair_suites
from scoregate.kernel.types.fingerprint_changes import describe_fingerprint_change
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import CaseKey, CaseResult
from scoregate.kernel.types.runs.evidence import TrialOrigin, TrialRole, TrialSource, Use
from scoregate.kernel.types.runs.joined_columns import count_repeats, join_columns
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.runs.suite_states import digest_states

_SOURCE = 2  # the number of the source of their trials


@record
class _AddedSuite:
    """The trials of an attempt that a suite gets: the place of the suite, their keys, and their first repeat."""

    place: int
    keys: frozenset[CaseKey]
    first_repeat: int


@record
class _AddedAttempt:
    """An attempt, and what it adds, by the place of the suite in it."""

    run: Run
    suites: Mapping[int, _AddedSuite]

    def read(self) -> Iterator[CaseResult]:
        """Its trials as those of the run."""
        for case in self.run.cases:
            added = self.suites.get(case.suite)
            if added is not None and case.key in added.keys:
                repeat = added.first_repeat + case.repeat
                yield replace(case, suite=added.place, repeat=repeat, reused=self.run.id)


def pool_attempts(run: Run) -> tuple[Run, PooledAttempts | None]:
    """The run with the trials of its earlier attempts and pushes, and how many count; None if none does.

    Trials that met an error, and those of cases that were changed, do not count. Of a push, suites count that nothing
    changed since then.

    Args:
        run: the run, its attempts among its companions. That of a part of the cases counts alone.
    """
    earlier = run.companions_of(TrialRole.MAIN)
    if not earlier or not run.scope.is_whole:
        return run, None
    suites, gaps, added = list(run.suites), list[str](), list[_AddedAttempt]()
    for number, attempt in enumerate(earlier, 1):
        parts = dict[int, _AddedSuite]()
        for index, place in _pair_suites(run, attempt):
            if problem := _find_problem(run, run.suites[index], attempt, attempt.suites[place]):
                gaps.append(f"{run.suites[index].label} of attempt {number}: {problem}")
                continue
            rows = _list_rows(run.suites[index], attempt.suites[place])
            if rows:
                columns, first = attempt.suites[place].columns, count_repeats(suites[index].columns)
                parts[place] = _AddedSuite(index, frozenset(map(columns.key, rows)), first)
                suites[index] = suites[index].with_columns(join_columns(suites[index].columns, columns, rows, _SOURCE))
        if parts:
            added.append(_AddedAttempt(attempt, parts))
    if not added:
        return run, None
    pooled = replace(run, suites=tuple(_add_readers(suites, run.suites, added)), read=_chain(run.read, added))
    return pooled, _count_attempts(run, added, gaps)


def _count_attempts(run: Run, added: Sequence[_AddedAttempt], gaps: Sequence[str]) -> PooledAttempts:
    pushes = [each for each in added if not has_same_code(run, each.run)]
    unchanged = {added_suite.place for each in pushes for added_suite in each.suites.values()}
    same_code = sum(has_same_code(run, each) for each in run.companions_of(TrialRole.MAIN))
    return PooledAttempts(
        max(run.end.attempt, same_code + 1),
        len(added) - len(pushes),
        tuple(gaps),
        pushes=len(pushes),
        unchanged=tuple(run.suites[place].label for place in sorted(unchanged)),
    )


def has_same_code(run: Run, attempt: Run) -> bool:
    """Whether an earlier run is an attempt at the same code, and not an earlier push.

    Only attempts are kept next to a run whose conditions are not known, such as one that is published for a fork.
    """
    now, then = run.conditions, attempt.conditions
    if now is None or then is None:
        return True
    is_equal = now.code == then.code or (now.tracked is not None and now.tracked == then.tracked)
    return is_equal and now.settings == then.settings


def _pair_suites(run: Run, attempt: Run) -> Iterator[tuple[int, int]]:
    """The places of suites that both runs measured, of an earlier push only those that nothing changed since then."""
    same: Collection[str] | None = None
    if not has_same_code(run, attempt):
        now, then = digest_states(run), digest_states(attempt)
        same = {script for script, state in now.items() if then.get(script) == state}
    for index, place in pair_suites(run.suites, attempt.suites):
        suite, other = run.suites[index], attempt.suites[place]
        is_measured = suite.evidence.counts(Use.TEST) and other.evidence.counts(Use.TEST)
        if is_measured and suite.script == other.script and (same is None or suite.script in same):
            yield index, place


def _find_problem(run: Run, suite: SuiteResult, attempt: Run, other: SuiteResult) -> str:
    """Why the trials of a suite of an attempt don't count; empty if they do."""
    for name in suite.evaluators.keys() & other.evaluators.keys():
        if change := describe_fingerprint_change(suite.evaluators[name], other.evaluators[name]):
            return f"{name}: {change}"
    if any(info.battles for info in suite.evaluators.values()) and not _have_same_base(run, attempt):
        return "its outputs were compared with those of another baseline"
    return ""


def _have_same_base(run: Run, attempt: Run) -> bool:
    base, other = run.compared_with, attempt.compared_with
    return base is not None and other is not None and base.id == other.id != ""


def _list_rows(suite: SuiteResult, other: SuiteResult) -> list[int]:
    """The trials of a suite of an attempt that count."""
    columns, no_evidence = suite.columns, set(suite.evidence.rows_without(Use.TEST))
    digests = {case: columns.digests[row] for row, case in enumerate(columns.hashes) if row not in no_evidence}
    left_out = {*other.evidence.rows_without(Use.TEST), *other.columns.errored_rows()}
    return [
        row
        for row, case in enumerate(other.columns.hashes)
        if row not in left_out and case in digests and other.columns.digests[row] == digests[case]
    ]


def _add_readers(
    suites: Iterable[SuiteResult], own: Iterable[SuiteResult], added: list[_AddedAttempt]
) -> Iterator[SuiteResult]:
    """The suites with their trials read from all attempts."""
    for place, (suite, before) in enumerate(zip(suites, own, strict=True)):
        if suite is before:
            yield suite
            continue
        trials = suite.trials
        sources = (*trials.sources, TrialSource(TrialOrigin.ATTEMPT))
        yield replace(suite, trials=replace(trials, sources=sources, read=_chain(trials.read, added, place)))


def _chain(
    read: Callable[[], Iterable[CaseResult]] | None, added: list[_AddedAttempt], place: int | None = None
) -> Callable[[], Iterable[CaseResult]]:
    """Reads the trials of the run, or of one of its suites, and then those of its attempts."""

    def read_all() -> Iterator[CaseResult]:
        yield from read() if read is not None else ()
        for attempt in added:
            yield from (case for case in attempt.read() if place is None or case.suite == place)

    return read_all
