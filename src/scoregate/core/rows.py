"""One row of a comparison, and the label that it earns among the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from scoregate.core.criteria import Criteria, EvaluatorCriteria
from scoregate.core.families import correct_by_direction


class Label(StrEnum):
    """What a row comes to; the first that applies, in this order."""

    UNMEASURABLE = "unmeasurable"
    NOT_COMPARABLE = "not comparable"
    NEW = "new"
    REMOVED = "removed"
    LABELS = "labels only"
    TOO_FEW = "too few"
    UNCHANGED = "unchanged"
    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    NOISE = "within noise"


class Measure(StrEnum):
    """What a row compares."""

    SCORE = "score"
    LATENCY = "latency"
    COST = "cost"
    TOKENS = "tokens"


_COMPARED = (Label.UNCHANGED, Label.BETTER, Label.WORSE, Label.EQUIVALENT, Label.NOISE)


@dataclass(frozen=True, slots=True)
class Row:
    """One evaluator of one suite, or one thing that a suite uses up.

    Scores and `delta` (run − base) are in [0, 1]. For latency, cost and tokens `mean` and `base` are milliseconds,
    dollars or counts a case, and `delta`, `low`, `high` and `detectable` natural logarithms of the ratio run / base.

    `mean` and `base` are over the pairs where there are any, else over all cases of their run. `n` pairs of cases in
    `clusters` clusters were compared; `better` and `worse` of them differ. `dropped` pairs had an error on one side;
    `added`, `removed` and `changed` cases have no counterpart or another definition under the same hash. `lost` counts
    the cases that have a score in the base and none in the run, by reason (`none`, `error`, `removed`, `redefined`,
    `waiting`), `gained` those with a score in the run alone; `lost_too_many`: so many were lost to None that the row is
    unmeasurable.

    `low` and `high` bound delta with 95 % confidence; `p` is two-sided and of this row alone, `p_worse` and `p_better`
    are one-sided; `q` is the corrected p, over all rows of a kind and by direction, which labels and gates use;
    `smallest_p` is the least that p could have been; `detectable` is the smallest drop that would have been found four
    times in five if this were the only row. `within` is the smallest margin within which the difference lies (97.5 %
    on either side). `total`, `total_low` and `total_high` are logarithms of the ratio of totals, for cost and tokens.
    `labels` and `base_labels` count what was said without a score. `checked`: both sides carry a fingerprint of the
    evaluator.
    """

    suite: str
    evaluator: str
    label: Label
    mean: float | None = None
    base: float | None = None
    delta: float | None = None
    n: int = 0
    better: int = 0
    worse: int = 0
    p: float | None = None
    p_worse: float | None = None
    p_better: float | None = None
    low: float | None = None
    high: float | None = None
    detectable: float | None = None
    dropped: int = 0
    added: int = 0
    removed: int = 0
    changed: int = 0
    lost: Mapping[str, int] = field(default_factory=dict)
    gained: int = 0
    lost_too_many: bool = False
    reason: str = ""
    higher_is_better: bool = True
    q: float | None = None
    smallest_p: float | None = None
    within: float | None = None
    total: float | None = None
    total_low: float | None = None
    total_high: float | None = None
    clusters: int = 0
    checked: bool = True
    measure: Measure = Measure.SCORE
    labels: Mapping[str, int] = field(default_factory=dict)
    base_labels: Mapping[str, int] = field(default_factory=dict)

    @property
    def gain(self) -> float:
        """`delta`, signed so that more is better; 0 where nothing was compared."""
        return (self.delta or 0.0) * (1 if self.higher_is_better else -1)


def label_rows(rows: Sequence[Row], criteria: Criteria) -> list[Row]:
    """The rows with corrected p-values and the labels that depend on them.

    The family is every compared row whose p could have been as small as alpha.
    Source: Tarone (1990), Biometrics 46:515; Benjamini and Hochberg (1995).
    """
    family = [at for at, row in enumerate(rows) if in_family(row, criteria.alpha)]
    corrected = correct_by_direction(
        [_known(rows[at].p_worse) for at in family], [_known(rows[at].p_better) for at in family]
    )
    found = dict(zip(family, corrected, strict=True))
    return [_labelled(replace(row, q=found.get(at)), criteria) for at, row in enumerate(rows)]


def _known(p: float | None) -> float:
    return 1.0 if p is None else p


def in_family(row: Row, alpha: float) -> bool:
    """Whether a row was compared, and could have been called better or worse at all."""
    return row.label in _COMPARED and row.smallest_p is not None and row.smallest_p <= alpha


def _labelled(row: Row, criteria: Criteria) -> Row:
    if row.label is not Label.NOISE:
        return row
    own = criteria.of(row.evaluator) if row.measure is Measure.SCORE else criteria.of_ratios
    return replace(row, label=_label(row, criteria, own))


def _label(row: Row, criteria: Criteria, own: EvaluatorCriteria) -> Label:
    if not row.better and not row.worse:
        return Label.UNCHANGED
    falls = _known(row.p_worse) < _known(row.p_better)
    effect = -row.gain if falls else row.gain
    if row.q is not None and row.q <= criteria.alpha and effect > 0 and effect >= (own.min_effect or 0.0):
        return Label.WORSE if falls else Label.BETTER
    if row.within is not None and row.within <= (own.margin or 0.0):
        return Label.EQUIVALENT
    return Label.NOISE
