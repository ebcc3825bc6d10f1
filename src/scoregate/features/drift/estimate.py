"""The drift of the providers of models: what a control of the base's cases says about a change of the scores.

The base's scores were measured some time ago. A control asks a random part of the base's cases again, at the base's
commit. The control's scores minus the base's stored ones estimate how far the provider moved meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import ceil, erfc, sqrt
from typing import ClassVar

from scoregate.kernel.compare.adjustment import Adjustment
from scoregate.kernel.compare.comparison_rows import RowLabel
from scoregate.kernel.compare.estimates import estimate_difference
from scoregate.kernel.compare.pairing import Pairs, Side, pair_sides
from scoregate.kernel.compare.statistics.distributions import normal_quantile, t_quantile, t_two_sided
from scoregate.kernel.compare.statistics.intervals import MANY, Spread, measure_spread, power_quantiles
from scoregate.kernel.types.amounts import exceeds_share
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format

# A control is large enough if it finds a shift of the provider of this size with this power, with the variance that
# differences have without a shift. With the larger variance that they have then, the power is about 80 %.
FOUND_SHIFT, FOUND_POWER = 0.1, 0.85
_ALPHA, _POWER = 0.05, 0.8


class DriftState(StrEnum):
    """Whether the change of a row is corrected for drift."""

    CORRECTED = "corrected"
    TOO_SMALL = "control too small"
    UNMEASURED = "not measured"


@record
class Drift(Adjustment):
    """How far the provider moved since the base was measured, and the change of the scores without the correction.

    Attributes:
        state: whether the change of the row is corrected.
        cases: the number of control cases with a score in all three runs.
        needed: the number of control cases that a correction needs.
        shift: the mean difference of the control, in the unit of the scores; None if it is not measured.
        low: the lower end of the 95 % interval of `shift`.
        high: the upper end of the 95 % interval of `shift`.
        p: the two-sided p of the shift, corrected for the number of rows.
        label: the label of the row without the correction; empty if nothing is corrected.
        delta: the change of the row without the correction.
        detectable: the smallest drop that the row could find without the correction, with a power of 80 %.
        power: the power to find that drop with the correction.
        reason: why nothing is measured.
    """

    state: DriftState
    cases: int = 0
    needed: int = 0
    shift: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    label: str = ""
    delta: float | None = None
    detectable: float | None = None
    power: float | None = None
    reason: str = ""
    cause: ClassVar[str] = "provider drift"
    why_not: ClassVar[str] = "have too few control cases and are not corrected for drift"
    explanation: ClassVar[str] = "with the drift of the provider, which explains it"

    def has_moved(self, alpha: float = _ALPHA) -> bool:
        """Whether the control shows a significant shift of the provider."""
        return self.state is DriftState.CORRECTED and self.p is not None and self.p <= alpha

    @property
    def found_shift(self) -> float | None:
        """The shift, if it is significant."""
        return self.shift if self.has_moved() else None

    def explains(self, alpha: float) -> bool:
        """Whether the shift is significant, and in the direction of the measured change."""
        return self.has_moved(alpha) and self.delta is not None and (self.shift or 0.0) * self.delta > 0

    def describe(self, label: str) -> str:
        """The shift with the power that its correction costs; empty if nothing was corrected."""
        if self.state is not DriftState.CORRECTED or self.shift is None or self.delta is None:
            return ""
        signed = number_format.difference
        bounds = "" if self.low is None or self.high is None else f" [{signed(self.low)}, {signed(self.high)}]"
        is_explained = label == RowLabel.EXPLAINED
        effect = "explained by the provider's drift of" if is_explained else "corrected for a provider drift of"
        text = f"{effect} {signed(self.shift)}{bounds} in {number_format.count(self.cases, 'control case')}"
        text = f"{text}; measured {signed(self.delta)} ({self.label})"
        if self.detectable is None or self.power is None or round(self.power, 2) >= _POWER:
            return text
        return f"{text}; power for a drop of {self.detectable:.2f}: {self.power:.2f} instead of {_POWER:.2f}"


@record
class DriftEstimate:
    """The drift of one evaluator, and the change of its scores without it, in the unit of the scores.

    Attributes:
        drift: the drift.
        p_lower: the one-sided p of a shift as low or lower if the provider is the same.
        p_upper: the one-sided p of a shift as high or higher.
        delta: the change of the scores minus the shift.
        error: the standard error of `delta`.
        plain_error: the standard error of the change of the scores, without the correction.
        df: the degrees of freedom of `error`.
    """

    drift: Drift
    p_lower: float = 1.0
    p_upper: float = 1.0
    delta: float = 0.0
    error: float = 0.0
    plain_error: float = 0.0
    df: int = 0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of `delta`, within ±1."""
        half_width = t_quantile(1 - _ALPHA / 2, self.df) * self.error
        return max(-1.0, self.delta - half_width), min(1.0, self.delta + half_width)

    @property
    def one_sided_p(self) -> tuple[float, float]:
        """The one-sided p of a change as low or lower, and of one as high or higher, if only the provider moved."""
        if not self.error:
            return (1.0, 1.0) if not self.delta else (0.0, 1.0) if self.delta < 0 else (1.0, 0.0)
        p = t_two_sided(self.delta / self.error, self.df)
        return (p / 2, 1 - p / 2) if self.delta < 0 else (1 - p / 2, p / 2)

    @property
    def widening(self) -> float:
        """How many times larger the standard error is with the correction; 1 if there was none before."""
        return self.error / self.plain_error if self.plain_error else 1.0

    @property
    def power(self) -> float:
        """The power to find the change with the correction that is found with a power of 80 % without it."""
        level, power = normal_quantile(1 - _ALPHA / 2), normal_quantile(_POWER)
        return erfc((level - (level + power) / self.widening) / sqrt(2)) / 2


def estimate_drift(
    new: Side, baseline: Side, control: Side, clusters: Mapping[str, str], *, max_dropped: float
) -> DriftEstimate:
    """Estimate the drift of one evaluator, and the change of its scores without the drift.

    Only cases with a score in the run and in the base count, so that the change and the shift are of the same cases.
    Both use the base's stored scores, so the change minus the shift is averaged over the clusters: cluster k
    contributes u_k = Σ_{i∈k} (d_i − mean d) / n − Σ_{i∈k, control} (c_i − mean c) / m. The squared error is C/(C − 1)
    times the sum of u_k². To this a pseudo-pair is added for each side, as in `Spread.interval`.

    Args:
        new: the scores of the run.
        baseline: the stored scores of the base.
        control: the scores of the control.
        clusters: the clusters of the run's cases.
        max_dropped: the largest share of control cases that may have errors.
    """
    compared = [case for case in new.means if case in baseline.means]
    control = control.select(compared, control.values(compared))
    pairs = pair_sides(control, baseline, clusters)
    if not pairs.n or exceeds_share(pairs.errored, pairs.n + pairs.errored, max_dropped):
        reason = "no case of the control has a score in all runs"
        if pairs.errored:
            reason = f"{pairs.errored:,} of {pairs.n + pairs.errored:,} control cases have an error"
        return DriftEstimate(Drift(DriftState.UNMEASURED, pairs.n, reason=reason))
    changes = pair_sides(new, baseline, clusters)
    spread, shift = measure_spread(changes.clusters), measure_spread(pairs.clusters)
    estimate = estimate_difference(pairs, scale=1.0)
    needed = _find_needed(pairs, shift, spread)
    is_enough = pairs.n >= needed and shift.df >= MANY - 1
    drift = Drift(
        DriftState.CORRECTED if is_enough else DriftState.TOO_SMALL,
        cases=pairs.n,
        needed=needed,
        shift=estimate.delta,
        low=estimate.low,
        high=estimate.high,
        p=estimate.p,
    )
    if not is_enough:
        return DriftEstimate(drift, estimate.p_lower, estimate.p_upper)
    plain_error = sqrt(spread.error**2 + _pseudo_variance(spread))
    error = sqrt(_joint_variance(new, baseline, control, clusters) + _pseudo_variance(spread) + _pseudo_variance(shift))
    delta = spread.mean - shift.mean
    return DriftEstimate(drift, estimate.p_lower, estimate.p_upper, delta, error, plain_error, shift.df)


def _find_needed(pairs: Pairs, shift: Spread, spread: Spread) -> int:
    """The number of control cases that find a shift of `FOUND_SHIFT` with `FOUND_POWER`, see there.

    With fewer than `MANY` clusters in the control, the larger variance of control and run counts.
    """
    variance = _variance(shift)
    if shift.clusters < MANY:
        variance = max(variance, _variance(spread))
    clusters = max(MANY, power_quantiles(MANY, _ALPHA, FOUND_POWER) ** 2 * variance / FOUND_SHIFT**2)
    return ceil(clusters * pairs.n / shift.clusters)


def _variance(spread: Spread) -> float:
    """The variance of a cluster's difference if nothing had shifted, with two pseudo-clusters.

    A shift of the mean adds its product with the typical difference to the second moment, see `detectable_change`.
    """
    moment, typical = spread.expected_variance()
    return max(moment - abs(spread.mean) * typical, 0.0)


def _pseudo_variance(spread: Spread) -> float:
    """What two pseudo-clusters add to the squared error of a mean."""
    return 2 * spread.largest**2 / ((spread.clusters + 2) * spread.clusters)


def _joint_variance(new: Side, baseline: Side, control: Side, clusters: Mapping[str, str]) -> float:
    """The squared error of the mean change minus the mean shift, with their covariance."""
    changes = {case: mean - baseline.means[case] for case, mean in new.means.items() if case in baseline.means}
    shifts = {case: mean - baseline.means[case] for case, mean in control.means.items() if case in changes}
    parts: dict[tuple[bool, str], float] = {}
    for differences, sign in ((changes, 1), (shifts, -1)):
        mean = sum(differences.values()) / len(differences)
        for case, difference in differences.items():
            key = (case in clusters, clusters.get(case, case))
            parts[key] = parts.get(key, 0.0) + sign * (difference - mean) / len(differences)
    return len(parts) / (len(parts) - 1) * sum(part**2 for part in parts.values())
