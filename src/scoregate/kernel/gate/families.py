"""The families of the relative gates: p-values corrected so that the whole run has one error rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.row_labels import correct_with_accepted, is_in_family
from scoregate.kernel.compare.statistics.joint_test import joint_fall_test
from scoregate.kernel.compare.statistics.significance import benjamini_hochberg
from scoregate.kernel.types.declarations.declaration import Rule
from scoregate.kernel.types.records import record
from scoregate.kernel.types.slots import Slot

# Of the error rate of a run. Quantities get little: in one family with the ratio limits of 20 suites, the power of a
# row of scores would fall from .88 to .53; with this share it is .85 (`benchmarks/calibration_run.py`).
_SCORE_SHARE, _RATIO_SHARE = 0.8, 0.2

LEVEL_FACTOR: Slot[float] = Slot("level_factor")
"""In a comparison: what the level of gates on scores is multiplied by, such as 0.5 if it is the second look at them."""


@record
class Shares:
    """The one-sided levels of both families. A side that no gate watches gives its share to the other.

    Attributes:
        scores: for scores, of suites and of what features watch.
        ratios: for cost, tokens and the 95th percentile of latency.
        alpha: the two-sided level that both add up to.
    """

    scores: float = 1.0
    ratios: float = 1.0
    alpha: float = 0.05

    @classmethod
    def divide(cls, alpha: float, *, has_scores: bool, has_ratios: bool, factor: float = 1.0) -> Shares:
        """Divide a level among the families that a gate watches.

        Args:
            alpha: the two-sided level.
            has_scores: whether a gate watches scores.
            has_ratios: whether a gate watches ratios.
            factor: what the level of scores is multiplied by, see `LEVEL_FACTOR`.
        """
        if has_scores and has_ratios:
            return cls(_SCORE_SHARE * factor, _RATIO_SHARE, alpha)
        return cls(scores=factor, alpha=alpha)

    @property
    def fewest_cases(self) -> int:
        """The smallest number of cases with which a gate on scores can fail, if all of them fall."""
        return count_needed(self.scores * self.alpha / 2)

    @property
    def fewest_pairs(self) -> int:
        """The same for a gate on a ratio."""
        return count_needed(self.ratios * self.alpha / 2)


def count_needed(level: float) -> int:
    """The smallest n such that n of n differences fall by chance with a probability 2^-n of at most the level."""
    return next(n for n in range(1, 1_000) if 2.0**-n <= level)


@record
class GateLimit:
    """A limit of a relative gate on a row.

    Attributes:
        rule: the rule.
        most: the largest allowed drop, in the unit of the scores.
        origin: where the limit is set.
    """

    rule: Rule
    most: float
    origin: str


@record
class SmallRow:
    """A watched row with too few pairs for a test of its own, and its limits."""

    row: Row
    limits: tuple[GateLimit, ...] = ()


@record
class SmallRows:
    """All of these rows, which are tested together, without those that an entry accepts.

    Attributes:
        rows: the rows with their labels.
        q: the corrected two-sided p of all of them together; None without any.
    """

    rows: tuple[SmallRow, ...] = ()
    q: float | None = None

    @property
    def has_several(self) -> bool:
        """Whether a row is tested with others."""
        return len(self.rows) > 1

    @property
    def able(self) -> int:
        """The number of cases that can still get worse. Cases of several rows of a suite are counted once."""
        able: dict[str, int] = {}
        for each in self.rows:
            able[each.row.suite] = max(able.get(each.row.suite, 0), each.row.pairs.able)
        return sum(able.values())


@record
class Families:
    """What rules need to know of the correction.

    Attributes:
        shares: the levels of both families.
        small: the rows that are tested together.
        suites_with_limited_parts: the labels of these suites: a gate on a part depends on the rows of the suite.
    """

    shares: Shares = field(default_factory=Shares)
    small: SmallRows = field(default_factory=SmallRows)
    suites_with_limited_parts: frozenset[str] = frozenset()


@record
class ScoreCorrection:
    """The corrected p of the rows of scores that a gate watches.

    Attributes:
        worse: twice the corrected one-sided p of each row for getting worse, at most 1; None for a row that could not
            become significant, or that is tested with others only.
        named: the places of rows with too few pairs that are also worse by themselves, if all of them are together.
        small: the places of the rows that are tested together.
        q: the corrected two-sided p of those together; None without any.
    """

    worse: tuple[float | None, ...]
    named: frozenset[int]
    small: tuple[int, ...]
    q: float | None


def correct_scores(rows: Sequence[Row], shares: Shares) -> ScoreCorrection:
    """Correct the p of every row that a gate watches. All rows with too few pairs are one member of the family.

    A project of many small suites would otherwise be blind: a correction for the number of rows leaves no outcome of a
    suite of eight cases significant, although all suites may collapse at once.

    Args:
        rows: the rows of scores that a gate watches.
        shares: the levels of the families.
    """
    large = [index for index, row in enumerate(rows) if is_in_family(row, shares.alpha)]
    few = [index for index, row in enumerate(rows) if row.label is RowLabel.TOO_FEW and row.pairs.differences]
    ps = [rows[index].p_worse for index in large]
    is_accepted = [rows[index].accepted is not None for index in large]
    has_changes = any(row.pairs.better or row.pairs.worse for row in (rows[index] for index in few))
    if has_changes:
        ps, is_accepted = [*ps, _test_together([rows[index] for index in few])], [*is_accepted, False]
    corrected = [min(1.0, 2 * q / shares.scores) for q in correct_with_accepted(ps, is_accepted)]
    worse: list[float | None] = [None] * len(rows)
    for index, q in zip(large, corrected, strict=False):
        worse[index] = q
    joint = corrected[-1] if has_changes else (1.0 if few else None)
    named, small = set[int](), tuple(index for index in few if rows[index].accepted is None)
    for index in small:
        own = 2 * rows[index].p_worse / shares.scores
        if joint is not None and max(joint, own) <= shares.alpha:
            worse[index] = max(joint, own)
            named.add(index)
    return ScoreCorrection(tuple(worse), frozenset(named), small, joint)


def _test_together(rows: Sequence[Row]) -> float:
    """The one-sided p of all small rows together; an entry that accepts a drop of one can only make it larger."""
    others = [row for row in rows if row.accepted is None]
    p = _test_rows(others)
    return p if len(others) == len(rows) else max(p, _test_rows(rows))


def _test_rows(rows: Sequence[Row]) -> float:
    p = joint_fall_test([{(row.suite, name): value for name, value in row.pairs.differences.items()} for row in rows])
    if not any(row.pairs.is_unequal for row in rows):
        return p
    # Random signs alone give false alarms for unequal numbers of trials. The p of each row by itself allows for them.
    return max(p, min(benjamini_hochberg([row.p_worse for row in rows])))


def correct_ratios(ps: Sequence[float], shares: Shares) -> list[float]:
    """Correct the one-sided p of the quantities that a gate watches: twice the corrected p of each, at most 1."""
    return [min(1.0, 2 * q / shares.ratios) for q in benjamini_hochberg(ps)]


def is_collapse(row: Row, *, can_fail: bool, is_alone: bool) -> bool:
    """Whether every case fell, and far: with few cases this is no proof, and too much for a green run.

    Args:
        row: a row with too few cases to be certain by itself.
        can_fail: whether its gate can fail, as the row is tested with others.
        is_alone: whether no other row has too few cases. Among several, chance lets all cases of one fall by a little.
    """
    least = _LEAST_OF_MANY if can_fail else LEAST_CASES
    return least <= row.pairs.n == row.pairs.worse and -row.gain >= (_FALL_ALONE if is_alone else _FALL)


# With a fall of .1 for all rows, twelve suites of three graded cases are unmeasurable in .78 of runs without a change,
# twelve of five cases in .19, and five cases with twelve evaluators in .21 (`benchmarks/calibration_run.py`).
LEAST_CASES, _LEAST_OF_MANY = 3, 5
_FALL_ALONE, _FALL = 0.1, 0.5
