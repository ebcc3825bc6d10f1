"""How far two scorers agree on the same answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation, fmean
from typing import Any

PASSES = 0.5
_MOST_LISTED = 3
Scores = Sequence[tuple[float | None, Sequence[str] | str]]


@dataclass(frozen=True)
class Comparison:
    """Two scorers on the answers that both have a score for.

    Attributes:
        ours: the name of scoregate's scorer.
        theirs: the name of the peer's.
        count: the number of answers with two scores.
        missing: how many have no score of ours, and how many none of theirs.
        same: the share of answers that both pass or both fail.
        difference: the mean absolute difference of scores.
        ranks: Spearman's correlation; None if one of them gives the same score to all.
        largest: the answers with the largest differences, described.
    """

    ours: str
    theirs: str
    count: int
    missing: tuple[int, int]
    same: float
    difference: float
    ranks: float | None
    largest: Sequence[str]

    def __str__(self) -> str:
        """Return the line of the table."""
        ranks = "–" if self.ranks is None else f"{self.ranks:.2f}"
        missing = f"{self.missing[0]}, {self.missing[1]}"
        measured = f"{self.same:.0%} | {self.difference:.3f} | {ranks}"
        return f"| `{self.ours}` | {self.theirs} | {self.count} | {missing} | {measured} |"


def compare(rows: Sequence[Mapping[str, Any]], ours: tuple[str, Scores], theirs: tuple[str, Scores]) -> Comparison:
    """Compare two scorers, each given with its name, on the same rows."""
    (name, left), (peer, right) = ours, theirs
    pairs = [(row, a, b) for row, a, b in zip(rows, left, right, strict=True) if a[0] is not None and b[0] is not None]
    scores = [(float(a[0] or 0), float(b[0] or 0)) for _, a, b in pairs]
    return Comparison(
        name,
        peer,
        len(pairs),
        (sum(each[0] is None for each in left), sum(each[0] is None for each in right)),
        fmean((a >= PASSES) == (b >= PASSES) for a, b in scores),
        fmean(abs(a - b) for a, b in scores),
        correlate_ranks([a for a, _ in scores], [b for _, b in scores]),
        _describe_largest((name, peer), pairs),
    )


def correlate_ranks(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Spearman's correlation, with mean ranks for ties; None if all values of one side are equal."""
    try:
        return correlation(_rank(xs), _rank(ys))
    except StatisticsError:
        return None


def _rank(values: Sequence[float]) -> list[float]:
    rounded = [round(value, 6) for value in values]
    ordered = sorted(rounded)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in rounded]


def _describe_largest(names: tuple[str, str], pairs: Sequence[tuple[Mapping[str, Any], Any, Any]]) -> list[str]:
    """Describe the three largest differences; among equal ones, each kind of fault before its second row."""
    ordered = sorted(pairs, key=lambda pair: -round(abs(pair[1][0] - pair[2][0]), 6))
    keyed: list[tuple[float, int, str]] = []
    seen: Counter[tuple[float, str]] = Counter()
    for row, a, b in ordered:
        difference = round(abs(a[0] - b[0]), 6)
        if difference or (a[0] >= PASSES) != (b[0] >= PASSES):
            keyed.append((-difference, seen[difference, row["fault"]], _describe(names, row, a, b)))
            seen[difference, row["fault"]] += 1
    keyed.sort(key=lambda each: each[:2])
    return [text for *_, text in keyed[:_MOST_LISTED]]


def _describe(names: tuple[str, str], row: Mapping[str, Any], ours: Any, theirs: Any) -> str:
    judged = row["expected" if names[0].startswith("context_") else "answer"]
    verdicts = " against ".join(", ".join(each[1]) or "none" for each in (ours, theirs))
    reason = _explain(names[1], ours, theirs)
    return f"{row['id']}, {row['fault']}: {ours[0]:.2f} and {theirs[0]:.2f} ({reason}; {verdicts}). “{judged}”"


def _explain(peer: str, ours: Any, theirs: Any) -> str:
    """Name the first of the reasons for which verdicts or scores of the same text can differ."""
    if peer.endswith("hallucination"):
        return "a verdict for each claim against one for each passage, which is no only for contradictions"
    if not (ours[1] and theirs[1]):
        return "no claim"
    if len(ours[1]) != len(theirs[1]):
        return f"{len(ours[1])} against {len(theirs[1])} parts"
    if "borderline" in theirs[1]:
        return "borderline passes"
    return f"{theirs[0]!r} is below the limit" if round(abs(ours[0] - theirs[0]), 6) == 0 else "other verdicts"
