"""A run against its base: one row for each suite and evaluator, and the cases that flipped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from scoregate.core.case import Status
from scoregate.core.criteria import Criteria
from scoregate.core.filters import is_wanted
from scoregate.core.fingerprints import what_changed
from scoregate.core.flips import Flip, flips
from scoregate.core.record import Run, SuiteResult
from scoregate.core.rows import Row, label_rows
from scoregate.core.suite_rows import Extras, new_rows, quantity_rows, removed_rows, score_rows

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
                   if suite.id not in self.run.skipped and is_wanted(suite.id, globs)}  # fmt: skip
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
    """Hold a run against its base.

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
    pairs = tuple(_paired(run.suites, base.suites))
    olds = {at: _pooled(base.suites[base_at], pool) for at, base_at in pairs}
    return Comparison(
        run,
        base,
        rows=tuple(label_rows(list(_rows(run, base, olds, criteria=of_suite)), criteria)),
        quantities=tuple(label_rows(list(_quantities(run, olds, criteria)), criteria)),
        newly_failing=tuple(flips(run, base, pairs, to=Status.FAILED)),
        newly_passing=tuple(flips(run, base, pairs, to=Status.PASSED)),
        gone=tuple(old.label for at, old in enumerate(base.suites) if at not in {b for _, b in pairs}),
        base_note=note,
        pairs=pairs,
        pooled=1 + len(pool),
        base_unreadable=unreadable,
    )


def _pooled(old: SuiteResult, pool: Sequence[Run]) -> list[SuiteResult]:
    """The suite and its twins in the other runs, as far as their evaluators are the same."""
    twins = (
        next((other for other in run.suites if _same(old, other) and old.script == other.script), None) for run in pool
    )
    return [old, *(twin for twin in twins if twin is not None and _same_evaluators(old, twin))]


def _same_evaluators(one: SuiteResult, other: SuiteResult) -> bool:
    shared = one.evaluators.keys() & other.evaluators.keys()
    return not any(what_changed(one.evaluators[name], other.evaluators[name]) for name in shared)


def _extras(suite: SuiteResult, old: SuiteResult, run: Run, base: Run) -> Extras | None:
    """The trials that both sides made more of. Those that only one side has were chosen for another comparison."""
    if not run.extras or len(run.extras) != len(base.extras):
        return None
    return Extras(_pooled(suite, run.extras)[1:], _pooled(old, base.extras)[1:])


def _rows(run: Run, base: Run, olds: dict[int, list[SuiteResult]], *, criteria: CriteriaOf) -> Iterator[Row]:
    for at, suite in enumerate(run.suites):
        if at in olds:
            extras = _extras(suite, olds[at][0], run, base)
            yield from score_rows(suite, olds[at], criteria(suite), extras=extras)
        else:
            yield from new_rows(suite, "no base run of this suite yet")
    matched = [id(old) for found in olds.values() for old in found]
    for old in base.suites:
        if id(old) not in matched:
            yield from removed_rows(old)


def _quantities(run: Run, olds: dict[int, list[SuiteResult]], criteria: Criteria) -> Iterator[Row]:
    for at, found in olds.items():
        yield from quantity_rows(run.suites[at], found, criteria)


def _paired(new: Iterable[SuiteResult], old: Iterable[SuiteResult]) -> Iterator[tuple[int, int]]:
    """Suites of one id and parameters: those of the same file first, then of the same label, then the only ones."""
    free = dict(enumerate(old))
    waiting = dict(enumerate(new))
    for pairing in (_of_one_file, _of_one_label, _only_one):
        for at, suite in list(waiting.items()):
            twins = [b for b, other in free.items() if _same(suite, other)]
            if (twin := pairing(suite, twins, free)) is not None:
                del free[twin], waiting[at]
                yield at, twin


def _of_one_file(suite: SuiteResult, twins: Sequence[int], free: Mapping[int, SuiteResult]) -> int | None:
    return next((twin for twin in twins if free[twin].script == suite.script), None)


def _of_one_label(suite: SuiteResult, twins: Sequence[int], free: Mapping[int, SuiteResult]) -> int | None:
    return next((twin for twin in twins if free[twin].label == suite.label), None)


def _only_one(_: SuiteResult, twins: Sequence[int], __: Mapping[int, SuiteResult]) -> int | None:
    return twins[0] if len(twins) == 1 else None


def _same(one: SuiteResult, other: SuiteResult) -> bool:
    return one.id == other.id and dict(one.params or {}) == dict(other.params or {})
