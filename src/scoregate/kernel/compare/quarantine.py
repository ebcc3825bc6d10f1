"""Leaves the cases in quarantine out of both sides of a comparison.

People write entries after they looked at results. If the baseline is one of these results, leaving cases out biases the
rest. For example, flaky cases leave that passed in the baseline and fail now. Those that failed in the baseline stay,
and they pass again without any change. So the comparison of scores leaves out only cases that already were in
quarantine when the baseline was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

from scoregate.errors import RecordError
from scoregate.kernel.compare.compared_suites import pair_suites
from scoregate.kernel.compare.earlier_runs import leave_out_cases
from scoregate.kernel.types.exemptions import STABLE_CASES, Exemptions, QuarantinedCases, StableCase
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.runs.evidence import TrialMark, Trials, Use, does_count
from scoregate.kernel.types.runs.policy import matches_suite
from scoregate.kernel.types.runs.run import Run, SuiteResult

_Key: TypeAlias = tuple[int, str]  # the index of a suite in its run, the hash of a case
_Chosen: TypeAlias = dict[_Key, QuarantinedCases]


@record
class QuarantinedCase:
    """A case in quarantine.

    Attributes:
        suite: the label of its suite.
        case: its hash.
        name: its readable name.
        entry: the entry that covers it.
        statuses: the status of each trial in the run; empty if it didn't run.
        base_statuses: the same in the baseline.
        stable_runs: in how many runs in a row every trial passed, up to this run. What a run keeps counts once.
        was_quarantined: whether it was in quarantine when the baseline was measured.
        is_measured: whether the run measured it; False for results that it keeps from an earlier run.
    """

    suite: str
    case: str
    name: str
    entry: QuarantinedCases
    statuses: tuple[Status, ...] = ()
    base_statuses: tuple[Status, ...] = ()
    stable_runs: int = 0
    was_quarantined: bool = False
    is_measured: bool = False

    @property
    def is_compared(self) -> bool:
        """Whether the comparison of scores still counts it, because its entry may be younger than the baseline.

        A case with an error has no score to compare, and must not make the comparison unmeasurable.
        """
        is_in_both = bool(self.statuses and self.base_statuses)
        return is_in_both and not self.was_quarantined and Status.ERRORED not in self.statuses + self.base_statuses

    @property
    def fails(self) -> bool:
        """Whether a trial of the run failed or has an error."""
        return any(each in (Status.FAILED, Status.ERRORED) for each in self.statuses)

    @property
    def is_stable(self) -> bool:
        """Whether it passed in so many runs in a row that it can leave the quarantine."""
        return self.stable_runs >= self.entry.stable_runs


@record
class Sides:
    """Both sides of a comparison, without the cases in quarantine.

    Attributes:
        run: the run.
        base: the baseline; None without one.
        pool: more runs of the baseline's commit.
        cases: the cases that are left out, by suite and in the order of the run.
        earlier: earlier runs of the branch, see `compare`.
    """

    run: Run
    base: Run | None = None
    pool: tuple[Run, ...] = ()
    cases: tuple[QuarantinedCase, ...] = ()
    earlier: tuple[Run, ...] | None = None


def leave_out_quarantine(
    run: Run,
    base: Run | None,
    pool: Sequence[Run],
    exemptions: Exemptions,
    *,
    earlier: tuple[Run, ...] | None = None,
    kept: Collection[QuarantinedCase] = (),
) -> Sides:
    """Leave out the cases in quarantine. Reads the cases of a run only if an entry may cover one of them.

    Args:
        run: the run.
        base: the baseline; None without one.
        pool: more runs of the baseline's commit.
        exemptions: the entries. If the base decides, its names and tags decide for each case that it has: else a change
            could rename or tag a case to leave it out.
        earlier: earlier runs of the branch, see `compare`. Suites leave them that measured a case before its entry.
        kept: cases that stay, of those that a call without them has left out.
    """
    entries = exemptions.active_quarantine
    if not entries:
        return Sides(run, base, tuple(pool), earlier=earlier)
    pairs = {} if base is None else dict(pair_suites(run.suites, base.suites))
    quarantined = dict(find_quarantined_cases(run, entries))
    base_chosen = {} if base is None else dict(find_quarantined_cases(base, entries))
    if exemptions.base_decides and base is not None:
        known = {(at, case) for at, base_at in pairs.items() for case in base.suites[base_at].columns.hashes}
        quarantined = {key: entry for key, entry in quarantined.items() if key not in known}
    chosen = quarantined | _move(base_chosen, {base_at: at for at, base_at in pairs.items()})
    names = {(case.suite, case.case) for case in kept}
    staying = {key: entry for key, entry in chosen.items() if (run.suites[key[0]].label, key[1]) in names}
    base_chosen = _remove(base_chosen | _move(quarantined, pairs), _move(staying, pairs))
    chosen = _remove(chosen, staying)
    if not (chosen or base_chosen):
        return Sides(run, base, tuple(pool), earlier=earlier)
    trials = _Trials(run, base, pairs)
    return Sides(
        _without(run, chosen, trials.add),
        None if base is None else _without(base, base_chosen, trials.add_base),
        tuple(_leave_out_of_pool(pool, base, base_chosen)),
        tuple(trials.cases()),
        None if earlier is None else tuple(_leave_out_of_earlier(earlier, run, chosen)),
    )


def _leave_out_of_pool(pool: Iterable[Run], base: Run | None, chosen: _Chosen) -> Iterator[Run]:
    for run in pool:
        moved = _move(chosen, _find_places(base, run))
        if not _find_biased_suites(run, moved):
            yield _without(run, moved)


def _leave_out_of_earlier(earlier: Iterable[Run], run: Run, chosen: _Chosen) -> Iterator[Run]:
    for each in earlier:
        moved = _move(chosen, _find_places(run, each))
        biased, left = _find_biased_suites(each, moved), leave_out_cases(each, moved)
        suites = tuple(suite for at, suite in enumerate(left.suites) if at not in biased)
        if suites:
            yield replace(left, suites=suites)


def _find_biased_suites(run: Run, chosen: Collection[_Key]) -> set[int]:
    """The suites of a run of the base branch that measured one of the cases when it wasn't in quarantine yet."""
    recorded = {(each.suite, each.case) for each in _read_stable_cases(run)}
    younger = {(at, case) for at, case in chosen if (run.suites[at].label, case) not in recorded}
    affected = {at for at, _ in younger}
    return {at for at in affected if any((at, case) in younger for case in run.suites[at].columns.hashes)}


def _read_stable_cases(run: Run) -> tuple[StableCase, ...]:
    """The record of a run. Without a valid one, entries count as younger than the run, so that no gate is weaker."""
    try:
        return run.slots.get(STABLE_CASES) or ()
    except RecordError:
        return ()


def find_quarantined_cases(
    run: Run, entries: Iterable[QuarantinedCases]
) -> Iterator[tuple[tuple[int, str], QuarantinedCases]]:
    """Find the trials that an entry covers by their own names and tags. Reads the cases if an entry is for their suite.

    Args:
        run: the run.
        entries: the entries.

    Yields:
        The index of the suite and the hash of the case, and the first entry that covers it.
    """
    by_suite = [[entry for entry in entries if matches_suite(suite, entry.suite)] for suite in run.suites]
    if not any(by_suite):
        return
    for case in run.cases:
        for entry in by_suite[case.suite]:
            if entry.matches((case.hash, case.name), case.tags):
                yield (case.suite, case.hash), entry
                break


class Quarantine:
    """Which cases are in quarantine while their run is recorded: those that `leave_out_quarantine` leaves out later.

    Args:
        exemptions: the entries.
        base: the baseline; None without one.
    """

    def __init__(self, exemptions: Exemptions, base: Run | None) -> None:
        self._exemptions, self._base = exemptions, base

    def covers(self, suite: SuiteResult, case: CaseResult) -> bool:
        """Whether the case of a trial is in quarantine.

        Args:
            suite: its suite so far. At the end its label may have its file, too.
            case: the trial.
        """
        entries = self._exemptions.active_quarantine
        if entries and self._base is not None:
            base_at = next((at for _, at in pair_suites([suite], self._base.suites)), None)
            if (base_at, case.hash) in self._base_chosen:
                return True
            if base_at is not None and self._exemptions.base_decides:
                entries = () if case.hash in self._base.suites[base_at].columns.hashes else entries
        with_file = replace(suite, label=f"{suite.label} ({suite.script})")
        return any(
            entry.matches((case.hash, case.name), case.tags)
            and (matches_suite(suite, entry.suite) or matches_suite(with_file, entry.suite))
            for entry in entries
        )

    @cached_property
    def _base_chosen(self) -> set[tuple[int | None, str]]:
        assert self._base is not None
        return {key for key, _ in find_quarantined_cases(self._base, self._exemptions.active_quarantine)}


def _find_places(run: Run | None, other: Run) -> dict[int, int]:
    """Where the suites of a run are in another run; suites that it lacks are left out."""
    return {} if run is None else dict(pair_suites(run.suites, other.suites))


def _move(chosen: Mapping[_Key, QuarantinedCases], places: Mapping[int, int]) -> _Chosen:
    """The same cases in another run. A suite of the same id, such as another variant, is another suite."""
    return {(places[at], case): entry for (at, case), entry in chosen.items() if at in places}


def _remove(chosen: Mapping[_Key, QuarantinedCases], other: Collection[_Key]) -> _Chosen:
    return {key: entry for key, entry in chosen.items() if key not in other}


_Observe: TypeAlias = Callable[[CaseResult, QuarantinedCases], None]


def _ignore(_: CaseResult, __: QuarantinedCases) -> None:
    pass


def _without(run: Run, chosen: Mapping[_Key, QuarantinedCases], observe: _Observe = _ignore) -> Run:
    """The run without the chosen cases. They stay on disk."""
    affected = {at for at, suite in enumerate(run.suites) if any((at, case) in chosen for case in suite.columns.hashes)}
    if not affected:
        return run
    kept, left_out = {at: Columns() for at in affected}, {at: Columns() for at in affected}
    for case in run.cases:
        if case.suite in affected:
            entry = chosen.get((case.suite, case.hash))
            (kept if entry is None else left_out)[case.suite].add(case)
            if entry is not None:
                observe(case, entry)

    def is_kept(case: CaseResult) -> bool:
        return (case.suite, case.hash) not in chosen

    suites = list(run.suites)
    for at in affected:
        trials = suites[at].trials
        read = _filter_reader(trials.read, is_kept)
        suites[at] = replace(suites[at], trials=Trials(kept[at], trials.sources, excused=left_out[at], read=read))
    return replace(
        run,
        suites=tuple(suites),
        read=_filter_reader(run.read, is_kept),
        companions=run.change_companions(lambda each: _without(each, _move(chosen, _find_places(run, each)))),
    )


def _filter_reader(
    read: Callable[[], Iterable[CaseResult]] | None, is_kept: Callable[[CaseResult], bool]
) -> Callable[[], Iterable[CaseResult]] | None:
    return None if read is None else lambda: filter(is_kept, read())


class _Place(NamedTuple):
    """The index of a suite in the run and in the baseline; None in a run that doesn't have it."""

    run: int | None
    base: int | None


class _Trials:
    """Collects the trials of the cases in quarantine.

    Args:
        run: the run.
        base: the baseline; None without one.
        pairs: the index of each suite of the run that the baseline has, and its index there.
    """

    def __init__(self, run: Run, base: Run | None, pairs: Mapping[int, int]) -> None:
        self._run, self._base = run, base
        self._pairs, self._places = pairs, {base_at: at for at, base_at in pairs.items()}
        known = () if base is None else _read_stable_cases(base)
        self._stable = {(each.suite, each.case): each.runs for each in known}
        self._kept: set[tuple[_Place, str]] = set()  # what an earlier run measured
        self._found: dict[tuple[_Place, str], QuarantinedCase] = {}

    def add(self, case: CaseResult, entry: QuarantinedCases) -> None:
        """Add a trial of the run."""
        suite = self._run.suites[case.suite]
        key = (_Place(case.suite, self._pairs.get(case.suite)), case.hash)
        known = self._get(key, suite, case, entry)
        origin = suite.trials.sources[case.reused is not None].origin
        if not (does_count(origin, Use.STABLE) and does_count(TrialMark.EXCUSED, Use.STABLE)):
            self._kept.add(key)
        self._found[key] = replace(known, statuses=(*known.statuses, case.status))

    def add_base(self, case: CaseResult, entry: QuarantinedCases) -> None:
        """Add a trial of the baseline."""
        assert self._base is not None
        at = self._places.get(case.suite)
        key = (_Place(at, case.suite), case.hash)
        suite = self._base.suites[case.suite] if at is None else self._run.suites[at]
        known = self._get(key, suite, case, entry)
        self._found[key] = replace(known, base_statuses=(*known.base_statuses, case.status))

    def _get(
        self, key: tuple[_Place, str], suite: SuiteResult, case: CaseResult, entry: QuarantinedCases
    ) -> QuarantinedCase:
        return self._found.get(key) or QuarantinedCase(suite.label, case.hash, case.name or case.hash, entry)

    def cases(self) -> Iterator[QuarantinedCase]:
        """The cases of the run, suite by suite, then those that only the baseline has."""
        order = {suite.label: at for at, suite in enumerate(self._run.suites)}
        for key, case in sorted(self._found.items(), key=lambda each: order.get(each[1].suite, len(order))):
            base_at = key[0].base
            suite = case.suite if self._base is None or base_at is None else self._base.suites[base_at].label
            before = self._stable.get((suite, case.case))
            is_measured = bool(case.statuses) and key not in self._kept
            yield replace(
                case,
                stable_runs=_count_stable(case, before, is_measured=is_measured),
                was_quarantined=before is not None,
                is_measured=is_measured,
            )


def _count_stable(case: QuarantinedCase, before: int | None, *, is_measured: bool) -> int:
    before = int(_have_passed(case.base_statuses)) if before is None else before
    if not case.statuses:
        return before
    return before + is_measured if _have_passed(case.statuses) else 0


def _have_passed(statuses: Sequence[Status]) -> bool:
    return bool(statuses) and all(each is Status.PASSED for each in statuses)
