"""What is demanded of a run: limits for all suites, and for some."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from scoregate.core.record import SuiteResult


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a suite; None leaves the rule to the wider setting. Rates and scores are in [0, 1]."""

    min_pass_rate: float | None = None
    min_score: Mapping[str, float] = field(default_factory=dict)
    max_error_rate: float | None = None
    origin: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Policy:
    """The limits for all suites, and those of suites by glob, later ones winning."""

    default: Limits = Limits(min_pass_rate=1.0, max_error_rate=0.05)
    suites: Mapping[str, Limits] = field(default_factory=dict)

    def of(self, suite: SuiteResult) -> Limits:
        """The limits that hold for one suite."""
        found = self.default
        for glob, limits in self.suites.items():
            if fnmatchcase(suite.id, glob) or fnmatchcase(suite.label, glob):
                found = _over(found, limits)
        return found


def _over(wide: Limits, narrow: Limits) -> Limits:
    return Limits(
        wide.min_pass_rate if narrow.min_pass_rate is None else narrow.min_pass_rate,
        {**wide.min_score, **narrow.min_score},
        wide.max_error_rate if narrow.max_error_rate is None else narrow.max_error_rate,
        {**wide.origin, **narrow.origin},
    )
