"""Earlier runs of a branch: as evidence only suites for which nothing changed, and what counts against them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from scoregate.kernel.compare.case_selection import without_cases
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.evidence import MEASURED_SOURCES, Trials, Use
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult
from scoregate.kernel.types.runs.suite_states import digest_states


def select_unchanged(earlier: Run, base: Run) -> Run | None:
    """The suites of an earlier run that measured the same as those of the baseline; None if there are none.

    Results that one run keeps from another one count once: a suite that did not run is left out, and so is the run
    that the results of the baseline come from.

    Args:
        earlier: a run of the same branch.
        base: the baseline.
    """
    states, base_states = digest_states(earlier), digest_states(base)
    same = {script for script, state in states.items() if base_states.get(script) == state}
    same -= {suite.script for suite in base.suites if earlier.id in suite.evidence.runs}
    names = {case: case for suite in base.suites if suite.script in same for case in _list_names(suite)}
    suites = tuple(
        _without_details(suite, names) for suite in earlier.suites if suite.script in same and _is_complete(suite)
    )
    if not suites or earlier.id == base.id:
        return None
    return Run(
        id=earlier.id,
        started=earlier.started,
        end=RunEnd(earlier.end.finished, complete=True),
        code=RunCode(earlier.code.version, commit=earlier.code.commit, branch=earlier.code.branch),
        suites=suites,
        slots=earlier.slots,
    )


def select_pool(pool: Iterable[Run], base: Run) -> Iterator[Run]:
    """The runs of the baseline's commit whose results are not in the baseline, each with the suites that it measured.

    Args:
        pool: runs besides the baseline; those of other commits are left out.
        base: the baseline.
    """
    for run in pool:
        known = {(suite.script, suite.id) for suite in base.suites if run.id in suite.evidence.runs}
        suites = tuple(
            suite
            for suite in run.suites
            if suite.evidence.counts_all(Use.EARLIER) and (suite.script, suite.id) not in known
        )
        if suites and run.code.commit == base.code.commit:
            yield replace(run, suites=suites)


def mark_as_measured(run: Run, earlier: Run) -> Run:
    """The run, in which results of its baseline count as measured if the earlier run doesn't have them.

    What a run keeps from its baseline is no evidence against that baseline. Against a run before it, it is.

    Args:
        run: the run.
        earlier: an earlier run of the branch.
    """
    known = frozenset({earlier.id}).union(*(suite.evidence.runs for suite in earlier.suites))
    suites = (
        replace(suite, trials=replace(suite.trials, sources=MEASURED_SOURCES))
        if suite.evidence.counts_all(Use.OLDER) and suite.evidence.runs.isdisjoint(known)
        else suite
        for suite in run.suites
    )
    return replace(run, suites=tuple(suites))


def _is_complete(suite: SuiteResult) -> bool:
    is_whole = suite.evidence.counts_all(Use.EARLIER) and not (suite.skipped or suite.unfinished or suite.part)
    return suite.complete and is_whole and not suite.errors


def _list_names(suite: SuiteResult) -> Iterable[str]:
    return suite.columns.hashes if isinstance(suite.columns.hashes, list) else ()


def _without_details(suite: SuiteResult, names: dict[str, str]) -> SuiteResult:
    """The suite with what a comparison of scores needs. Its hashes are the same strings as those of the baseline."""
    known = suite.columns
    columns = Columns(
        hashes=[names.get(case, case) for case in known.hashes] if isinstance(known.hashes, list) else known.hashes,
        repeats=known.repeats,
        digests=known.digests,
        statuses=known.statuses,
        scores=known.scores,
        errored=known.errored,
        unscaled=known.unscaled,
        answers=known.answers,
        deferred=known.deferred,
        thresholds=known.thresholds,
    )
    return replace(suite, trials=Trials(columns), usage=None)


def leave_out_cases(run: Run, cases: Collection[tuple[int, str]]) -> Run:
    """An earlier run without some cases.

    Args:
        run: what `select_unchanged` returned.
        cases: the index of the suite and the hash of each case.
    """
    suites = (
        without_cases(suite, {case for at, case in cases if at == index}) for index, suite in enumerate(run.suites)
    )
    return replace(run, suites=tuple(suites))
