"""People's verdicts on pairs of outputs, by evaluator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum

from scoregate.kernel.types.text import replace_surrogates
from scoregate.store.json_lines import JSON_LINES
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store
from scoregate.store.review_records import ReviewRecord, age_key, is_same_review, item_id, upsert


class Winner(StrEnum):
    """Which of two outputs is better."""

    BASELINE = "baseline"
    CHALLENGER = "challenger"
    TIE = "tie"

    @property
    def mirrored(self) -> Winner:
        """The same verdict with the outputs swapped."""
        return {Winner.BASELINE: Winner.CHALLENGER, Winner.CHALLENGER: Winner.BASELINE}.get(self, self)

    @property
    def score(self) -> float:
        """The score of the challenger: 1, 0.5 or 0."""
        return {Winner.BASELINE: 0.0, Winner.CHALLENGER: 1.0}.get(self, 0.5)


class Verdict(ReviewRecord):
    """A person's verdict on two outputs of one test case. `case` is the hash of the case."""

    case: str
    baseline: str
    challenger: str
    winner: Winner
    comment: str = ""

    def about(self) -> object:
        """The case and the two outputs."""
        return [self.case, self.baseline, self.challenger]


VERDICTS = Kind("verdicts", Verdict, JSON_LINES, ("evaluator",), item_id, is_same_review)


def add_verdict(store: Store, evaluator: str, verdict: Verdict) -> Verdict:
    """Store a verdict, with the present time if it has none. It replaces the person's earlier verdict on the pair.

    Raises:
        StoreError: it could not be written.
    """
    if verdict.created_at is None:
        verdict = verdict.model_copy(update={"created_at": datetime.now(UTC)})
    upsert(store, VERDICTS, (evaluator,), [verdict])
    return verdict


def read_verdicts(store: Store, evaluator: str) -> list[Verdict]:
    """All verdicts on an evaluator's battles, the oldest first.

    Raises:
        StoreError: they cannot be read.
    """
    return sorted(store.read(VERDICTS, (evaluator,)), key=age_key)


def majority_winner(items: Iterable[Verdict], case: str, *, baseline: str, challenger: str) -> Winner | None:
    """The winner of a pair of outputs by majority, in either order; a tie without a majority, None without a verdict.

    Args:
        items: the evaluator's verdicts.
        case: the hash of the test case.
        baseline: one output.
        challenger: the other output.
    """
    # Stored texts have no lone surrogates.
    case, pair = replace_surrogates(case), (replace_surrogates(baseline), replace_surrogates(challenger))
    verdicts = [verdict for verdict in items if verdict.case == case]
    votes = [verdict.winner for verdict in verdicts if (verdict.baseline, verdict.challenger) == pair]
    if pair[0] != pair[1]:  # equal outputs would count each verdict twice
        mirrored = [verdict for verdict in verdicts if (verdict.challenger, verdict.baseline) == pair]
        votes += [verdict.winner.mirrored for verdict in mirrored]
    if not votes:
        return None
    (winner, most), *rest = Counter(votes).most_common()
    return Winner.TIE if rest and rest[0][1] == most else winner
