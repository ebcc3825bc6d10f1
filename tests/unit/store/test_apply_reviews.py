"""Verdicts given after a run replace its pending scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.event_values import PairwiseComparison
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.store import Store, Verdict, Winner, add_verdict, open_store
from scoregate.store.apply_reviews import review_applier

CONTEST = PairwiseComparison("old", "new", "short", Threshold(gte=0.5))


def make_pending(*names: str) -> CaseResult:
    contests = dict.fromkeys(names, CONTEST)
    return CaseResult(0, "a", evaluations={"other": Evaluation(1)}, pending=(*names, "rubric only"), contests=contests)


def save_verdict(store: Store, winner: str, by: str, *, mirrored: bool = False) -> None:
    pair = ("new", "old") if mirrored else ("old", "new")
    verdict = Verdict(case="a", baseline=pair[0], challenger=pair[1], winner=Winner(winner), by=by)
    add_verdict(store, "battle", verdict)


@pytest.mark.parametrize(
    ("words", "score"),
    [
        ([("challenger", "Ann")], 1),
        ([("baseline", "Ann")], 0),
        ([("baseline", "Ann"), ("challenger", "Bob")], 0.5),
        ([("challenger", "Ann"), ("challenger", "Bob"), ("tie", "Eve")], 1),
    ],
)
def test_the_majority_scores(tmp_path: Path, words: list[tuple[str, str]], score: float) -> None:
    store = open_store(tmp_path)
    for winner, by in words:
        save_verdict(store, winner, by)
    case = review_applier(lambda: store)(make_pending("battle", "unsaid"))
    found = case.evaluations["battle"]
    assert (found.score, found.threshold, case.pending) == (score, CONTEST.threshold, ("unsaid", "rubric only"))
    assert case.evaluations["other"] == Evaluation(1)
    assert case.status is (Status.PASSED if score >= 0.5 else Status.FAILED)


def test_a_verdict_on_the_mirrored_pair_counts(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    save_verdict(store, "baseline", "Ann", mirrored=True)
    assert review_applier(lambda: store)(make_pending("battle")).evaluations["battle"].score == 1


def test_no_store_is_opened_if_nothing_waits() -> None:
    case = CaseResult(0, "a", pending=("human",))

    def open_no_store() -> Store:
        raise AssertionError("opened")

    assert review_applier(open_no_store)(case) is case
