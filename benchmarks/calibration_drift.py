"""Drift of the provider between the base's run and the pull request's: how often is the change blamed for it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from calibration_repeats import holds
from calibration_runs import CRITERIA, run_of, survey
from calibration_scores import MIXED, RUBRIC, Array, Kind
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.features.drift.estimate import Drift, DriftState
from scoregate.features.drift.step import STEP
from scoregate.features.slices.cases import SuiteSlices
from scoregate.features.slices.keys import TABLE
from scoregate.features.slices.rows import add_slices
from scoregate.kernel.compare.comparison import Comparison, compare
from scoregate.kernel.compare.comparison_rows import Row, RowLabel
from scoregate.kernel.compare.row_labels import AdjustRows
from scoregate.kernel.judge.judgement import find_adjusters
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import Run

KINDS = (MIXED, RUBRIC)
# The number of cases and of control cases.
SIZES = ((200, 20), (1_000, 100), (2_500, 250), (500, 250), (250, 250), (1_000, 500))
# The shift of the provider and the change by the pull request.
CHANGES = ((0.0, 0.0), (-0.1, 0.0), (0.0, -0.1), (-0.1, -0.1), (0.1, -0.1))
# The number of cases and of control cases in each slice.
SLICE_SIZES = ((500, 250), (1_000, 500), (250, 250))
COVERAGE = (0.93, 0.975)
BLAMED_MOST, REPORTED_LEAST, FALSE_MOST = 0.05, 0.8, 0.05
TEXT = """\
`provider` and `change` are added to the mean by the provider and by the pull request. `plain`: *worse* without a
control. `blamed`: *worse* with the control. `drift`: labelled *drift*. `shift`: the control shows a significant shift,
which is reported. `corrected`: the control was large enough; `needed`: the mean number of control cases that were
needed. `power`: the mean of the reported power for a drop that is found in .80 without the correction."""


SLICES = """\
Four slices of n cases, each with its own control cases; the provider and the pull request move the first slice only.
`plain`: any slice is *worse* without a control. `blamed`: any slice is *worse* with it. `interval`: the interval of the
first slice contains the change by the pull request."""


@dataclass(frozen=True)
class SliceAnswer:
    """The rows of the slices without and with the control."""

    plain: tuple[Row, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Answer:
    """What the rows without and with the control say."""

    plain: Row
    row: Row

    @property
    def drift(self) -> Drift:
        """What the control says."""
        assert isinstance(self.row.adjustment, Drift)
        return self.row.adjustment

    @property
    def is_corrected(self) -> bool:
        """Whether the control was large enough."""
        return self.drift.state is DriftState.CORRECTED

    @property
    def is_drift(self) -> bool:
        """Whether the row is labelled drift."""
        return self.row.label is RowLabel.EXPLAINED

    @property
    def is_same(self) -> bool:
        """Whether nothing but the note of the control differs."""
        return replace(self.row, adjustment=None) == self.plain


def report(effort: Effort) -> Iterator[Target]:
    """Print how often drift is blamed on the change, in whole suites and in slices."""
    yield from report_suites(effort)
    yield from report_slices(effort)


def report_suites(effort: Effort) -> Iterator[Target]:
    """Print how often drift is blamed on the change of a suite, and compare it with the targets."""
    head = ["scores", "n", "control", "provider", "change", "plain", "blamed", "drift", "shift", "corrected"]
    print_table("Provider drift", [*head, "needed", "power"], TEXT)
    blamed, reported, false, found = (dict[str, Rate]() for _ in range(4))
    unchanged, labelled = dict[str, Rate](), dict[str, Rate]()
    for kind in KINDS:
        for n, control in SIZES:
            for provider, change in CHANGES:
                name = f"{kind.name}, n = {n}, control {control}, provider {provider:+g}, change {change:+g}"
                ask = partial(_ask, kind=kind, n=n, control=control, provider=provider, change=change)
                asked = survey(f"drift: {name}", ask, effort.of(400, 100))
                rates = [
                    asked.rate(lambda each: each.plain.label is RowLabel.WORSE),
                    asked.rate(lambda each: each.row.label is RowLabel.WORSE),
                    asked.rate(lambda each: each.row.label is RowLabel.EXPLAINED),
                    asked.rate(lambda each: each.drift.has_moved()),
                    asked.rate(lambda each: each.is_corrected),
                ]
                needed = asked.mean(lambda each: each.drift.needed)
                power = asked.mean(lambda each: each.drift.power or 0.0)
                shown = (f"{needed.value:.0f}", f"{power.value:.2f}")
                print_row(kind.name, n, control, f"{provider:+g}", f"{change:+g}", *rates, *shown)
                if control < 50:
                    unchanged[name] = asked.rate(lambda each: each.is_same)
                if control < 250:
                    continue
                if not change:
                    blamed[name] = rates[1]
                if (provider, change) == (-0.1, 0.0):
                    labelled[name] = asked.rate(lambda each: each.plain.label is not RowLabel.WORSE or each.is_drift)
                    reported[name] = rates[3]
                if not provider:
                    false[name] = rates[3]
                if (provider, change) == (0.0, -0.1):
                    found[name] = rates[1]
    yield hold("from 250 control cases, no change: blamed", blamed, 0.0, BLAMED_MOST)
    yield hold("from 250 control cases, provider −10 points, no change: reported as drift", reported, REPORTED_LEAST)
    yield hold("the same: not worse, or labelled drift", labelled, 0.8)
    yield hold("from 250 control cases, no drift: reported as drift", false, 0.0, FALSE_MOST)
    yield hold("from 250 control cases, change of −10 points, no drift: found", found, 0.7)
    yield hold("20 control cases: nothing is corrected", unchanged, 1.0)


def report_slices(effort: Effort) -> Iterator[Target]:
    """Print how often the drift of one slice is blamed on the change, and compare it with the targets."""
    print_table(
        "Drift of slices", ["scores", "n", "control", "provider", "change", "plain", "blamed", "interval"], SLICES
    )
    blamed, found, covered = (dict[str, Rate]() for _ in range(3))
    for kind in KINDS:
        for n, control in SLICE_SIZES:
            for provider, change in ((0.0, 0.0), (-0.1, 0.0), (0.0, -0.1)):
                name = (
                    f"{kind.name}, 4 slices of {n}, control {control} each, provider {provider:+g}, change {change:+g}"
                )
                ask = partial(_ask_slices, kind=kind, n=n, control=control, provider=provider, change=change)
                asked = survey(f"drift of slices: {name}", ask, effort.of(400, 60))
                plain = asked.rate(lambda each: any(row.label is RowLabel.WORSE for row in each.plain))
                worse = asked.rate(lambda each: any(row.label is RowLabel.WORSE for row in each.rows))
                interval = asked.rate(partial(_holds, change=change))
                print_row(kind.name, n, control, f"{provider:+g}", f"{change:+g}", plain, worse, interval)
                covered[name] = interval
                if not change:
                    blamed[name] = worse
                elif n >= 500:  # with 250 cases, the change is found in .70 without a control, too
                    found[name] = worse
    yield hold("from 250 control cases in each slice, no change: a slice blamed", blamed, 0.0, BLAMED_MOST)
    yield hold("the same, change of −10 points in one slice of at least 500 cases, no drift: found", found, 0.7)
    yield hold("the same: the interval contains the slice's true change", covered, *COVERAGE)


def _ask_slices(source: Generator, *, kind: Kind, n: int, control: int, provider: float, change: float) -> SliceAnswer:
    """Four slices, of which the first drifts and changes."""
    quality = kind.quality(source, (4 * n,))
    first = np.arange(4 * n) < n
    moved = np.where(first, kind.lowered(quality, -provider), quality)
    changed = np.where(first, kind.lowered(quality, -provider - change), quality)
    base, new = _run(kind, source, quality), _run(kind, source, changed)
    scores = np.full(4 * n, np.nan)
    chosen = np.concatenate([at * n + source.permutation(n)[:control] for at in range(4)])
    scores[chosen] = _scores(kind, source, moved)[chosen]
    slices = [{"f": {f"v{at}": list(range(at * n, (at + 1) * n)) for at in range(4)}}]
    plain = compare(new, base, criteria=CRITERIA)
    controlled = new.add_companion(TrialRole.CONTROL, run_of({"e": scores[:, None]}))
    adjusted = compare(controlled, base, criteria=CRITERIA, adjusters=_find_adjusters(controlled, base))
    return SliceAnswer(_compare_slices(plain, slices), _compare_slices(adjusted, slices))


def _compare_slices(comparison: Comparison, slices: Sequence[SuiteSlices]) -> tuple[Row, ...]:
    table = add_slices(comparison, lambda _: slices).slots.get(TABLE)
    return () if table is None else tuple(each.row for each in table.rows)


def _holds(answer: SliceAnswer, *, change: float) -> bool:
    """Whether the interval of the first slice contains its true change."""
    return holds(answer.rows[0], truth=change)


def _ask(source: Generator, *, kind: Kind, n: int, control: int, provider: float, change: float) -> Answer:
    quality = kind.quality(source, (n,))
    chosen = source.permutation(n)[:control]
    moved = kind.lowered(quality, -provider)
    base, new = (_run(kind, source, each) for each in (quality, kind.lowered(quality, -provider - change)))
    scores = np.full(n, np.nan)
    scores[chosen] = _scores(kind, source, moved)[chosen]
    plain = compare(new, base, criteria=CRITERIA).rows[0]
    controlled = new.add_companion(TrialRole.CONTROL, run_of({"e": scores[:, None]}))
    adjusters = _find_adjusters(controlled, base)
    return Answer(plain, compare(controlled, base, criteria=CRITERIA, adjusters=adjusters).rows[0])


def _find_adjusters(run: Run, base: Run) -> list[AdjustRows]:
    return find_adjusters([STEP], run, base, lambda _: CRITERIA)


def _run(kind: Kind, source: Generator, quality: Array) -> Run:
    return run_of({"e": _scores(kind, source, quality)[:, None]})


def _scores(kind: Kind, source: Generator, quality: Array) -> Array:
    return kind.trial(source, np.clip(quality, 0.0, 1.0), source.random(len(quality)))
