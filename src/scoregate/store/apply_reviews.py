"""Applies people's verdicts to the battles that waited for them when a run ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache

from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.event_values import PairwiseComparison
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import Run
from scoregate.store.protocol import Store
from scoregate.store.verdicts import VERDICTS, Verdict, Winner, majority_winner, read_verdicts


def apply_reviews(run: Run, store: Callable[[], Store]) -> Run:
    """A run and its extra runs with the scores of the battles that people have judged since.

    Every stored run is read this way, as the run to judge and as the baseline. The stored run does not change, so
    people may change their verdicts later.

    Args:
        run: the run as it is stored.
        store: opens the store; not called if no battle waits.

    Raises:
        StoreError: the verdicts cannot be read.
    """
    companions = run.change_companions(lambda each: apply_reviews(each, store))
    if any(suite.columns.pending for suite in run.suites):
        run = _revise_run(run, review_applier(store))
    return replace(run, companions=companions)


_ReviseCase = Callable[[CaseResult], CaseResult]
_ReadCases = Callable[[], Iterable[CaseResult]]


def _revise_run(run: Run, revise: _ReviseCase) -> Run:
    """Replace every trial of a run by the result of `revise`; the trials are read once and stay on disk."""
    columns = [Columns() for _ in run.suites]
    for case in run.cases:
        columns[case.suite].add(revise(case))
    suites = (
        replace(suite, trials=replace(suite.trials, columns=revised, read=_revise_reader(suite.trials.read, revise)))
        for suite, revised in zip(run.suites, columns, strict=True)
    )
    return replace(run, suites=tuple(suites), read=_revise_reader(run.read, revise))


def _revise_reader(read: _ReadCases | None, revise: _ReviseCase) -> _ReadCases | None:
    if read is None:
        return None

    def cases() -> Iterator[CaseResult]:
        return map(revise, read())

    return cases


def review_applier(store: Callable[[], Store]) -> Callable[[CaseResult], CaseResult]:
    """A function that adds the scores of judged battles to a case.

    Args:
        store: opens the store; called at the first battle. The verdicts are read once for each evaluator.
    """
    open_once = cache(store)

    @cache
    def evaluators_with_verdicts() -> set[str]:
        return {key[0] for key in open_once().list_keys(VERDICTS)}

    @cache
    def verdicts_by_case(evaluator: str) -> dict[str, list[Verdict]]:
        return _by_case(read_verdicts(open_once(), evaluator))

    def apply(case: CaseResult) -> CaseResult:
        scores = {}
        for name, contest in case.contests.items():
            # Other evaluators are not cached: a forged run may name any number of them.
            if name in case.pending and name in evaluators_with_verdicts():
                winner = _find_winner(case, contest, verdicts_by_case(name).get(case.hash, ()))
                if winner is not None:
                    scores[name] = to_evaluation(contest, winner)
        waiting = tuple(name for name in case.pending if name not in scores)
        return replace(case, evaluations=case.evaluations | scores, pending=waiting) if scores else case

    return apply


def count_new_decisions(moment: datetime, read: Callable[[], Run], store: Store) -> int:
    """The number of battles that waited when a run ended, and whose winner has changed since a time.

    Args:
        moment: the time, with a time zone.
        read: reads the run; not called if there is no later verdict.
        store: the store.

    Raises:
        StoreError: the verdicts cannot be read.
    """
    by_evaluator = {name: _by_case(read_verdicts(store, name)) for (name,) in store.list_keys(VERDICTS)}
    fresh = {
        (name, case)
        for name, by_case in by_evaluator.items()
        for case, items in by_case.items()
        if any(_is_later(item, moment) for item in items)
    }
    return sum(
        _find_winner(case, contest, items := by_evaluator[name][case.hash])
        is not _find_winner(case, contest, [item for item in items if not _is_later(item, moment)])
        for case in (read().cases if fresh else ())
        for name, contest in case.contests.items()
        if name in case.pending and (name, case.hash) in fresh
    )


def _by_case(items: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    by_case = defaultdict(list)
    for verdict in items:
        by_case[verdict.case].append(verdict)
    return by_case


def _is_later(verdict: Verdict, moment: datetime) -> bool:
    return verdict.created_at is not None and verdict.created_at > moment


def _find_winner(case: CaseResult, contest: PairwiseComparison, items: Iterable[Verdict]) -> Winner | None:
    return majority_winner(items, case.hash, baseline=contest.baseline, challenger=contest.challenger)


def to_evaluation(contest: PairwiseComparison, winner: Winner) -> Evaluation:
    """A verdict of people as the score of the challenger."""
    reason = "people call it a tie" if winner is Winner.TIE else f"people prefer the {winner}"
    pair = {"baseline": contest.baseline, "challenger": contest.challenger, "criteria": contest.rubric}
    return Evaluation(winner.score, contest.threshold, {"reason": reason, **pair})
