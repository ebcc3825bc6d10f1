"""Leaves the cases in quarantine out of both sides of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeAlias

from scoregate.core.case_columns import Columns, known_values
from scoregate.core.cases import CaseResult, Status
from scoregate.core.earlier_runs import leave_out_cases
from scoregate.core.evaluation import Usage
from scoregate.core.exemptions import Exemptions, QuarantinedCases
from scoregate.core.policy import matches_suite
from scoregate.core.records import record
from scoregate.core.run import Run, StableCase, SuiteResult

_MOST_STABLE = 10_000
_Key: TypeAlias = tuple[str, str]  # the id of a suite, the hash of a case


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
        suite_id: the id of its suite.
        stable_runs: in how many runs in a row every trial passed, up to this run. What a run keeps counts once.
    """

    suite: str
    case: str
    name: str
    entry: QuarantinedCases
    statuses: tuple[Status, ...] = ()
    base_statuses: tuple[Status, ...] = ()
    suite_id: str = ""
    stable_runs: int = 0

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
) -> Sides:
    """Leave out the cases in quarantine. Reads the cases of a run only if an entry may cover one of them.

    Args:
        run: the run.
        base: the baseline; None without one.
        pool: more runs of the baseline's commit.
        exemptions: the entries. If the base decides, its names and tags decide for each case that it has: else a change
            could rename or tag a case to leave it out.
        earlier: earlier runs of the branch, see `compare`.
    """
    entries = exemptions.active_quarantine
    if not entries:
        return Sides(run, base, tuple(pool), earlier=earlier)
    found = dict(_find_cases(run, entries))
    base_found = {} if base is None else dict(_find_cases(base, entries))
    if exemptions.base_decides and base is not None:
        known = {(suite.id, case) for suite in base.suites for case in suite.columns.hashes}
        found = {key: entry for key, entry in found.items() if key not in known}
    chosen = found | base_found
    if not chosen:
        return Sides(run, base, tuple(pool), earlier=earlier)
    trials = _Trials(chosen, () if base is None else base.stable_cases)
    return Sides(
        _without(run, chosen, trials.add),
        None if base is None else _without(base, chosen, trials.add_base),
        tuple(_without(each, chosen) for each in pool),
        tuple(trials.cases(run)),
        None if earlier is None else tuple(leave_out_cases(each, chosen) for each in earlier),
    )


def _find_cases(run: Run, entries: Iterable[QuarantinedCases]) -> Iterator[tuple[_Key, QuarantinedCases]]:
    by_suite = [[entry for entry in entries if matches_suite(suite, entry.suite)] for suite in run.suites]
    if not any(by_suite):
        return
    for case in run.cases:
        for entry in by_suite[case.suite]:
            if entry.matches((case.hash, case.name), case.tags):
                yield (run.suites[case.suite].id, case.hash), entry
                break


_Observe: TypeAlias = Callable[[SuiteResult, CaseResult], None]


def _ignore(_: SuiteResult, __: CaseResult) -> None:
    pass


def _without(run: Run, chosen: Mapping[_Key, QuarantinedCases], observe: _Observe = _ignore) -> Run:
    """The run without the chosen cases. They stay on disk."""
    affected = {
        at for at, suite in enumerate(run.suites) if any((suite.id, case) in chosen for case in suite.columns.hashes)
    }
    if not affected:
        return run
    kept, left_out = {at: Columns() for at in affected}, {at: Columns() for at in affected}
    for case in run.cases:
        if case.suite in affected:
            suite = run.suites[case.suite]
            is_chosen = (suite.id, case.hash) in chosen
            (left_out if is_chosen else kept)[case.suite].add(case)
            if is_chosen:
                observe(suite, case)
    ids = [suite.id for suite in run.suites]

    def is_kept(case: CaseResult) -> bool:
        return (ids[case.suite], case.hash) not in chosen

    suites = (
        replace(
            suite,
            columns=kept[at],
            usage=_add_usage(suite.usage, left_out[at]),
            read=_filter_reader(suite.read, is_kept),
        )
        if at in affected
        else suite
        for at, suite in enumerate(run.suites)
    )
    return replace(
        run,
        suites=tuple(suites),
        read=_filter_reader(run.read, is_kept),
        extras=tuple(_without(each, chosen) for each in run.extras),
    )


def _filter_reader(
    read: Callable[[], Iterable[CaseResult]] | None, is_kept: Callable[[CaseResult], bool]
) -> Callable[[], Iterable[CaseResult]] | None:
    return None if read is None else lambda: filter(is_kept, read())


def _add_usage(usage: Usage | None, columns: Columns) -> Usage | None:
    """The usage of a suite outside of its cases, with that of cases in quarantine: their calls were paid, too."""
    costs = known_values(columns.costs)
    if not costs:
        return usage
    tokens = sum(map(int, known_values(columns.tokens)))
    known = usage or Usage(0, 0)
    return replace(known, input_tokens=known.input_tokens + tokens, cost=sum(costs, known.cost or 0.0))


class _Trials:
    """Collects the trials of the cases in quarantine."""

    def __init__(self, chosen: Mapping[_Key, QuarantinedCases], stable: Iterable[StableCase]) -> None:
        self._chosen = chosen
        self._stable = {(each.suite, each.case): each.runs for each in stable}
        self._kept: set[_Key] = set()  # what an earlier run measured
        self._found: dict[tuple[str, str, str], QuarantinedCase] = {}  # by label, id and hash

    def add(self, suite: SuiteResult, case: CaseResult) -> None:
        """Add a trial of the run."""
        known = self._get(suite, case)
        if suite.carried is not None or case.reused is not None:
            self._kept.add((suite.id, case.hash))
        self._put(suite, replace(known, statuses=(*known.statuses, case.status)))

    def add_base(self, suite: SuiteResult, case: CaseResult) -> None:
        """Add a trial of the baseline."""
        known = self._get(suite, case)
        self._put(suite, replace(known, base_statuses=(*known.base_statuses, case.status)))

    def _get(self, suite: SuiteResult, case: CaseResult) -> QuarantinedCase:
        entry = self._chosen[suite.id, case.hash]
        made = QuarantinedCase(suite.label, case.hash, case.name or case.hash, entry, suite_id=suite.id)
        return self._found.get((suite.label, suite.id, case.hash), made)

    def _put(self, suite: SuiteResult, case: QuarantinedCase) -> None:
        self._found[suite.label, suite.id, case.case] = case

    def cases(self, run: Run) -> Iterator[QuarantinedCase]:
        """The cases of the run, suite by suite, then those that only the baseline has."""
        order = {suite.label: at for at, suite in enumerate(run.suites)}
        for case in sorted(self._found.values(), key=lambda case: order.get(case.suite, len(order))):
            yield replace(case, stable_runs=self._count_stable(case))

    def _count_stable(self, case: QuarantinedCase) -> int:
        key = (case.suite_id, case.case)
        before = self._stable.get(key, int(_have_passed(case.base_statuses)))
        if not case.statuses:
            return before
        return before + (key not in self._kept) if _have_passed(case.statuses) else 0


def _have_passed(statuses: Sequence[Status]) -> bool:
    return bool(statuses) and all(each is Status.PASSED for each in statuses)


def list_stable_cases(cases: Iterable[QuarantinedCase]) -> tuple[StableCase, ...]:
    """What a run keeps of its cases in quarantine, for the next one to count on."""
    stable = (StableCase(each.suite_id, each.case, each.stable_runs) for each in cases if each.stable_runs)
    return tuple(islice(stable, _MOST_STABLE))
