"""Battles that waited for people when a run ended, as what people have said since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from functools import cache

from scoregate.core.cases import CaseResult
from scoregate.core.evaluation import Evaluation
from scoregate.core.events import PairwiseComparison
from scoregate.core.run import Run, revise_run
from scoregate.store.protocol import Store
from scoregate.store.verdicts import VERDICTS, Verdict, Winner, verdict_on, verdicts


def counted(run: Run, store: Callable[[], Store]) -> Run:
    """A run, and more trials of some of its cases, with the scores that people have given since to what waited.

    This is the one rule by which a run that was made before is read, be it judged itself or a base. What is written
    of the run stays as it is, so that people may say something else tomorrow.

    Args:
        store: opens it; not called where nothing waits.

    Raises:
        StoreError: people's verdicts cannot be read.
    """
    extras = tuple(counted(extra, store) for extra in run.extras)
    if any(suite.columns.pending for suite in run.suites):
        run = revise_run(run, counting(store))
    return replace(run, extras=extras)


def counting(store: Callable[[], Store]) -> Callable[[CaseResult], CaseResult]:
    """What puts the scores of judged battles in the place of those that wait for people.

    Args:
        store: opens it; called when the first battle comes, and read once for each evaluator.
    """
    opened = cache(store)

    @cache
    def judged() -> set[str]:
        return {shelf[0] for shelf in opened().shelves(VERDICTS)}

    @cache
    def read(evaluator: str) -> dict[str, list[Verdict]]:
        return _by_case(verdicts(opened(), evaluator))

    def said(evaluator: str) -> dict[str, list[Verdict]]:
        """Of others nothing is kept: a run that somebody made up may name any number of them."""
        return read(evaluator) if evaluator in judged() else {}

    def counted(case: CaseResult) -> CaseResult:
        if not case.contests:
            return case
        found = {name: _judged(case, each, said(name)) for name, each in case.contests.items() if name in case.pending}
        scores = {name: score for name, score in found.items() if score is not None}
        waiting = tuple(name for name in case.pending if name not in scores)
        return replace(case, evaluations=case.evaluations | scores, pending=waiting)

    return counted


def decided_since(moment: datetime, read: Callable[[], Run], store: Store) -> int:
    """How many of the battles that waited when a run ended have another outcome by now than they had at a moment.

    Args:
        read: reads the run; not called where nobody has said anything since.

    Raises:
        StoreError: people's verdicts cannot be read.
    """
    said = {shelf[0]: _by_case(verdicts(store, shelf[0])) for shelf in store.shelves(VERDICTS)}
    fresh = {(name, case) for name, cases in said.items() for case, about in cases.items() if _later(about, moment)}
    return sum(
        _outcome(case, contest, about := said[name][case.hash])
        is not _outcome(case, contest, [each for each in about if not _later([each], moment)])
        for case in (read().cases if fresh else ())
        for name, contest in case.contests.items()
        if name in case.pending and (name, case.hash) in fresh
    )


def _by_case(said: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    by_case = defaultdict(list)
    for verdict in said:
        by_case[verdict.case].append(verdict)
    return by_case


def _later(said: Iterable[Verdict], moment: datetime) -> bool:
    return any(each.created_at is not None and each.created_at > moment for each in said)


def _outcome(case: CaseResult, contest: PairwiseComparison, said: Iterable[Verdict]) -> Winner | None:
    return verdict_on(said, case.hash, baseline=contest.baseline, challenger=contest.challenger)


def _judged(case: CaseResult, contest: PairwiseComparison, said: dict[str, list[Verdict]]) -> Evaluation | None:
    winner = _outcome(case, contest, said.get(case.hash, ()))
    return None if winner is None else evaluation_of(contest, winner)


def evaluation_of(contest: PairwiseComparison, winner: Winner) -> Evaluation:
    """What people said of two outputs, as the score of the challenger."""
    reason = "people call it a tie" if winner is Winner.TIE else f"people prefer the {winner}"
    pair = {"baseline": contest.baseline, "challenger": contest.challenger, "criteria": contest.rubric}
    return Evaluation(winner.score, contest.threshold, {"reason": reason, **pair})
