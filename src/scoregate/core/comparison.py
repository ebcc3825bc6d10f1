"""A run against its base: one row for each suite and evaluator, and the cases that flipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from scoregate.core.cases import Columns, Status
from scoregate.core.comparison_rows import (
    ExtraTrials,
    Row,
    describe_fingerprint_change,
    label_rows,
    new_rows,
    quantity_rows,
    removed_rows,
    score_rows,
)
from scoregate.core.policy import Criteria
from scoregate.core.run import Run, SuiteResult
from scoregate.core.text import matches_filters


@dataclass(frozen=True, slots=True)
class Flip:
    """A case that failed on one side and passed on the other: row indices into both runs' columns.

    Of a case that was repeated they are the first trials that show it.
    """

    suite: int
    row: int
    base_suite: int
    base_row: int


def find_flips(run: Run, base: Run, pairs: Iterable[tuple[int, int]], *, to: Status) -> Iterator[Flip]:
    """The cases that are mostly `to` now, `failed` or `passed`, and were mostly the other in the base.

    A case that is repeated is one case: it fails where more of its trials fail than pass.
    """
    was = Status.PASSED if to is Status.FAILED else Status.FAILED
    for at, base_at in pairs:
        after, before = _pair_outcomes(run.suites[at], base.suites[base_at])
        rows = before.cases(was)
        for case, row in after.cases(to).items():
            if case in rows:
                yield Flip(at, row, base_at, rows[case])


def pair_pass_rates(run: Run, base: Run, pairs: Iterable[tuple[int, int]]) -> Iterator[tuple[float, float]]:
    """Of each case that was judged in both: the share of its trials that pass, in the run and in the base."""
    for at, base_at in pairs:
        after, before = (side.shares() for side in _pair_outcomes(run.suites[at], base.suites[base_at]))
        yield from ((share, before[case]) for case, share in after.items() if case in before)


def _pair_outcomes(new: SuiteResult, old: SuiteResult) -> tuple[_Outcomes, _Outcomes]:
    changed = _changed_evaluators(new, old)
    return _Outcomes(new.columns, changed), _Outcomes(old.columns, changed)


def _changed_evaluators(new: SuiteResult, old: SuiteResult) -> set[str]:
    """Evaluators that are not the same on both sides, or are only on one."""
    shared = new.evaluators.keys() & old.evaluators.keys()
    differ = {name for name in shared if describe_fingerprint_change(new.evaluators[name], old.evaluators[name])}
    return differ | (new.evaluators.keys() ^ old.evaluators.keys())


class _Outcomes:
    """The states of a suite's trials, judged without the evaluators that changed."""

    def __init__(self, columns: Columns, changed: set[str]) -> None:
        self._columns = columns
        changed_here = changed & columns.failed.keys()
        rest = (rows for name, rows in columns.failed.items() if name not in changed)
        self._spared = set[int]().union(*(columns.failed[name] for name in changed_here)) - set[int]().union(*rest)

    def status(self, row: int) -> Status:
        """A trial that failed only by evaluators that changed is no failure that could be compared."""
        return Status.UNSCORED if row in self._spared else self._columns.status(row)

    def cases(self, status: Status) -> dict[str, int]:
        """The cases that more trials show to be passed, or failed, than the other: each with the first such row."""
        lead: dict[str, int] = {}
        first: dict[str, int] = {}
        for row, case, found in self._judged():
            lead[case] = lead.get(case, 0) + (1 if found is status else -1)
            if found is status:
                first.setdefault(case, row)
        return {case: row for case, row in first.items() if lead[case] > 0}

    def shares(self) -> dict[str, float]:
        """The share of each case's trials that passed."""
        passed, judged = Counter[str](), Counter[str]()
        for _, case, found in self._judged():
            judged[case] += 1
            passed[case] += found is Status.PASSED
        return {case: passed[case] / count for case, count in judged.items()}

    def _judged(self) -> Iterator[tuple[int, str, Status]]:
        for row, case in enumerate(self._columns.hashes):
            if (found := self.status(row)) in (Status.PASSED, Status.FAILED):
                yield row, case, found


CriteriaOf: TypeAlias = Callable[[SuiteResult], Criteria]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run, its base (None where there is none), and what differs.

    `rows` are of scores, `quantities` of latency, cost and tokens. `gone` names suites that only the base has, `pairs`
    the indices of suites that belong together; `pooled` runs make up the base. `base_unreadable`: there may be a base,
    or more of it, that could not be read.
    """

    run: Run
    base: Run | None = None
    rows: tuple[Row, ...] = ()
    quantities: tuple[Row, ...] = ()
    newly_failing: tuple[Flip, ...] = ()
    newly_passing: tuple[Flip, ...] = ()
    gone: tuple[str, ...] = ()
    base_note: str = ""
    pairs: tuple[tuple[int, int], ...] = ()
    pooled: int = 1
    base_unreadable: bool = False

    @property
    def missed(self) -> tuple[str, ...]:
        """Those gone without a reason: they lacked nothing that they need, and no filter of this one run left them out.

        A filter in a file of the project is no reason, since the change may have set it.
        """
        if self.base is None:
            return ()
        globs = [glob for glob in self.run.filters if glob not in self.run.file_filters]
        missing = {suite.label for suite in self.base.suites
                   if suite.id not in self.run.skipped and matches_filters(suite.id, globs)}  # fmt: skip
        return tuple(label for label in self.gone if label in missing)

    def rows_of(self, suite: str) -> tuple[Row, ...]:
        """The rows of one suite, by its label."""
        return tuple(row for row in self.rows if row.suite == suite)


def compare(
    run: Run,
    base: Run | None,
    note: str = "",
    *,
    unreadable: bool = False,
    pool: Sequence[Run] = (),
    criteria: Criteria | None = None,
    criteria_of: CriteriaOf | None = None,
) -> Comparison:
    """Compare a run with its base.

    Args:
        run: what is judged. base: what it is held against; None where there is nothing.
        note: says what the base is, or why there is none.
        unreadable: there may be a base, or more of it, that could not be read.
        pool: more runs of the base's commit, whose scores count as repeats of its; runs of another are left out.
        criteria: by what measure differences count.
        criteria_of: the same for one suite, where suites differ in how many errors and lost scores they may have.
    """
    criteria = criteria or Criteria()
    of_suite = criteria_of or (lambda _: criteria)
    pool = [each for each in pool if base is not None and each.commit == base.commit]
    if base is None:
        fresh = (row for suite in run.suites for row in new_rows(suite, "no base run yet"))
        return Comparison(run, rows=tuple(fresh), base_note=note, base_unreadable=unreadable)
    pairs = tuple(_pair_suites(run.suites, base.suites))
    olds = {at: _pool_suites(base.suites[base_at], pool) for at, base_at in pairs}
    return Comparison(
        run,
        base,
        rows=tuple(label_rows(list(_compare_scores(run, base, olds, criteria=of_suite)), criteria)),
        quantities=tuple(label_rows(list(_compare_quantities(run, olds, criteria)), criteria)),
        newly_failing=tuple(find_flips(run, base, pairs, to=Status.FAILED)),
        newly_passing=tuple(find_flips(run, base, pairs, to=Status.PASSED)),
        gone=tuple(old.label for at, old in enumerate(base.suites) if at not in {b for _, b in pairs}),
        base_note=note,
        pairs=pairs,
        pooled=1 + len(pool),
        base_unreadable=unreadable,
    )


def _pool_suites(old: SuiteResult, pool: Sequence[Run]) -> list[SuiteResult]:
    """The suite and its twins in the other runs, as far as their evaluators are the same."""
    twins = (
        next((other for other in run.suites if _is_same_suite(old, other) and old.script == other.script), None)
        for run in pool
    )
    return [old, *(twin for twin in twins if twin is not None and _have_same_evaluators(old, twin))]


def _have_same_evaluators(one: SuiteResult, other: SuiteResult) -> bool:
    shared = one.evaluators.keys() & other.evaluators.keys()
    return not any(describe_fingerprint_change(one.evaluators[name], other.evaluators[name]) for name in shared)


def _extra_trials(suite: SuiteResult, old: SuiteResult, run: Run, base: Run) -> ExtraTrials | None:
    """The trials that both sides made more of. Those that only one side has were chosen for another comparison."""
    if not run.extras or len(run.extras) != len(base.extras):
        return None
    return ExtraTrials(_pool_suites(suite, run.extras)[1:], _pool_suites(old, base.extras)[1:])


def _compare_scores(run: Run, base: Run, olds: dict[int, list[SuiteResult]], *, criteria: CriteriaOf) -> Iterator[Row]:
    for at, suite in enumerate(run.suites):
        if at in olds:
            extras = _extra_trials(suite, olds[at][0], run, base)
            yield from score_rows(suite, olds[at], criteria(suite), extras=extras)
        else:
            yield from new_rows(suite, "no base run of this suite yet")
    matched = [id(old) for found in olds.values() for old in found]
    for old in base.suites:
        if id(old) not in matched:
            yield from removed_rows(old)


def _compare_quantities(run: Run, olds: dict[int, list[SuiteResult]], criteria: Criteria) -> Iterator[Row]:
    for at, found in olds.items():
        yield from quantity_rows(run.suites[at], found, criteria)


def _pair_suites(new: Iterable[SuiteResult], old: Iterable[SuiteResult]) -> Iterator[tuple[int, int]]:
    """Suites of one id and parameters: those of the same file first, then of the same label, then the only ones."""
    free = dict(enumerate(old))
    waiting = dict(enumerate(new))
    for pairing in (_match_by_file, _match_by_label, _match_only_one):
        for at, suite in list(waiting.items()):
            twins = [b for b, other in free.items() if _is_same_suite(suite, other)]
            if (twin := pairing(suite, twins, free)) is not None:
                del free[twin], waiting[at]
                yield at, twin


def _match_by_file(suite: SuiteResult, twins: Sequence[int], free: Mapping[int, SuiteResult]) -> int | None:
    return next((twin for twin in twins if free[twin].script == suite.script), None)


def _match_by_label(suite: SuiteResult, twins: Sequence[int], free: Mapping[int, SuiteResult]) -> int | None:
    return next((twin for twin in twins if free[twin].label == suite.label), None)


def _match_only_one(_: SuiteResult, twins: Sequence[int], __: Mapping[int, SuiteResult]) -> int | None:
    return twins[0] if len(twins) == 1 else None


def _is_same_suite(one: SuiteResult, other: SuiteResult) -> bool:
    return one.id == other.id and dict(one.params or {}) == dict(other.params or {})
