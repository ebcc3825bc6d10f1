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
        own: the name of scoregate's scorer.
        other: the name of the peer's.
        count: the number of answers with two scores.
        missing: how many have no score of scoregate's scorer, and how many none of the peer's.
        same: the share of answers that both pass or both fail.
        difference: the mean absolute difference of scores.
        ranks: Spearman's correlation; None if one of them gives the same score to all.
        largest: the answers with the largest differences, described.
    """

    own: str
    other: str
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
        return f"| `{self.own}` | {self.other} | {self.count} | {missing} | {measured} |"


def compare(rows: Sequence[Mapping[str, Any]], own: tuple[str, Scores], other: tuple[str, Scores]) -> Comparison:
    """Compare two scorers, each given with its name, on the same rows."""
    (name, left), (peer, right) = own, other
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


def _describe(names: tuple[str, str], row: Mapping[str, Any], own: Any, other: Any) -> str:
    judged = row["expected" if names[0].startswith("context_") else "answer"]
    verdicts = " against ".join(", ".join(each[1]) or "none" for each in (own, other))
    reason = _explain(names[1], own, other)
    return f"{row['id']}, {row['fault']}: {own[0]:.2f} and {other[0]:.2f} ({reason}; {verdicts}). “{judged}”"


def _explain(peer: str, own: Any, other: Any) -> str:
    """Name the first of the reasons for which verdicts or scores of the same text can differ."""
    if peer.endswith("hallucination"):
        return "a verdict for each claim against one for each passage, which is no only for contradictions"
    if not (own[1] and other[1]):
        return "no claim"
    if len(own[1]) != len(other[1]):
        return f"{len(own[1])} against {len(other[1])} parts"
    if "borderline" in other[1]:
        return "borderline passes"
    return f"{other[0]!r} is below the limit" if round(abs(own[0] - other[0]), 6) == 0 else "other verdicts"
