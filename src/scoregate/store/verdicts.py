"""What people said of pairs of outputs, by evaluator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum

from scoregate.core.text import replace_surrogates
from scoregate.store.json_lines import JSON_LINES
from scoregate.store.kinds import Kind
from scoregate.store.protocol import Store
from scoregate.store.review_records import ReviewRecord, age, key_of, same_words, upsert


class Winner(StrEnum):
    """Which of two outputs is better."""

    BASELINE = "baseline"
    CHALLENGER = "challenger"
    TIE = "tie"

    @property
    def mirrored(self) -> Winner:
        """The same judgement with the outputs exchanged."""
        return {Winner.BASELINE: Winner.CHALLENGER, Winner.CHALLENGER: Winner.BASELINE}.get(self, self)

    @property
    def score(self) -> float:
        """Of the challenger: 1, 0.5 or 0."""
        return {Winner.BASELINE: 0.0, Winner.CHALLENGER: 1.0}.get(self, 0.5)


class Verdict(ReviewRecord):
    """What a person said of two outputs for one test case; `case` is its hash."""

    case: str
    baseline: str
    challenger: str
    winner: Winner
    comment: str = ""

    def about(self) -> object:
        """The case and the pair."""
        return [self.case, self.baseline, self.challenger]


VERDICTS = Kind("verdicts", Verdict, JSON_LINES, ("evaluator",), key_of, same_words)


def add_verdict(store: Store, evaluator: str, verdict: Verdict) -> Verdict:
    """Keep a person's verdict, made now if it has no time; it takes the place of an earlier one of theirs on the pair.

    Raises:
        StoreError: it could not be written.
    """
    if verdict.created_at is None:
        verdict = verdict.model_copy(update={"created_at": datetime.now(UTC)})
    upsert(store, VERDICTS, (evaluator,), [verdict])
    return verdict


def verdicts(store: Store, evaluator: str) -> list[Verdict]:
    """All verdicts of an evaluator's battles, the oldest first.

    Raises:
        StoreError: they cannot be read.
    """
    return sorted(store.read(VERDICTS, (evaluator,)), key=age)


def verdict_on(said: Iterable[Verdict], case: str, *, baseline: str, challenger: str) -> Winner | None:
    """What people said of a pair of outputs for a case, in either order: the majority's word, a tie where there is
    none; None where nobody said anything.

    Args:
        said: the evaluator's verdicts, read once for all cases. case: the test case's hash.
    """
    case, pair = replace_surrogates(case), (replace_surrogates(baseline), replace_surrogates(challenger))
    about = [verdict for verdict in said if verdict.case == case]
    votes = [verdict.winner for verdict in about if (verdict.baseline, verdict.challenger) == pair]
    if pair[0] != pair[1]:
        mirrored = [verdict for verdict in about if (verdict.challenger, verdict.baseline) == pair]
        votes += [verdict.winner.mirrored for verdict in mirrored]
    if not votes:
        return None
    (winner, most), *rest = Counter(votes).most_common()
    return Winner.TIE if rest and rest[0][1] == most else winner
