"""Drift of the provider between the base's run and the pull request's: how often is the change blamed for it?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from calibration_runs import CRITERIA, run_of, survey
from calibration_scores import MIXED, RUBRIC, Array, Kind
from calibration_targets import Effort, Rate, Target, hold, print_row, print_table
from numpy.random import Generator

from scoregate.core.comparison import compare
from scoregate.core.comparison_rows import Row, RowLabel
from scoregate.core.drift import DriftState
from scoregate.core.drift_rows import has_drifted
from scoregate.core.run import Run

KINDS = (MIXED, RUBRIC)
# The number of cases and of control cases.
SIZES = ((200, 20), (1_000, 100), (2_500, 250), (500, 250), (250, 250), (1_000, 500))
# The shift of the provider and the change by the pull request.
CHANGES = ((0.0, 0.0), (-0.1, 0.0), (0.0, -0.1), (-0.1, -0.1), (0.1, -0.1))
BLAMED_MOST, REPORTED_LEAST, FALSE_MOST = 0.05, 0.8, 0.05
TEXT = """\
`provider` and `change` are added to the mean by the provider and by the pull request. `plain`: *worse* without a
control. `blamed`: *worse* with the control. `drift`: labelled *drift*. `shift`: the control shows a significant shift,
which is reported. `corrected`: the control was large enough; `needed`: the mean number of control cases that were
needed. `power`: the mean of the reported power for a drop that is found in .80 without the correction."""


@dataclass(frozen=True)
class Answer:
    """What the rows without and with the control say."""

    plain: Row
    row: Row

    @property
    def is_corrected(self) -> bool:
        """Whether the control was large enough."""
        return self.row.drift is not None and self.row.drift.state is DriftState.CORRECTED

    @property
    def is_drift(self) -> bool:
        """Whether the row is labelled drift."""
        return self.row.label is RowLabel.DRIFT

    @property
    def is_same(self) -> bool:
        """Whether nothing but the note of the control differs."""
        return replace(self.row, drift=None) == self.plain


def report(effort: Effort) -> Iterator[Target]:
    """Print how often drift is blamed on the change, and compare it with the targets."""
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
                    asked.rate(lambda each: each.row.label is RowLabel.DRIFT),
                    asked.rate(lambda each: has_drifted(each.row)),
                    asked.rate(lambda each: each.is_corrected),
                ]
                needed = asked.mean(lambda each: each.row.drift.needed if each.row.drift else 0)
                power = asked.mean(lambda each: (each.row.drift.power or 0.0) if each.row.drift else 0.0)
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


def _ask(source: Generator, *, kind: Kind, n: int, control: int, provider: float, change: float) -> Answer:
    quality = kind.quality(source, (n,))
    chosen = source.permutation(n)[:control]
    moved = kind.lowered(quality, -provider)
    base, new = (_run(kind, source, each) for each in (quality, kind.lowered(quality, -provider - change)))
    scores = np.full(n, np.nan)
    scores[chosen] = _scores(kind, source, moved)[chosen]
    plain = compare(new, base, criteria=CRITERIA).rows[0]
    controlled = replace(new, control=run_of({"e": scores[:, None]}))
    return Answer(plain, compare(controlled, base, criteria=CRITERIA).rows[0])


def _run(kind: Kind, source: Generator, quality: Array) -> Run:
    return run_of({"e": _scores(kind, source, quality)[:, None]})


def _scores(kind: Kind, source: Generator, quality: Array) -> Array:
    return kind.trial(source, np.clip(quality, 0.0, 1.0), source.random(len(quality)))
