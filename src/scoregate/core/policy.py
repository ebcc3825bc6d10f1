"""What is demanded of a run: limits for all suites, and for some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from math import log
from typing import Any, TypeAlias

from scoregate.core.run import SuiteResult


@dataclass(frozen=True, slots=True)
class EvaluatorCriteria:
    """What holds for one evaluator; None leaves it to the wider criteria or to the evaluator itself.

    `min_effect` and `margin` are in the unit of the scores, 0 to 1.
    """

    higher_is_better: bool | None = None
    min_effect: float | None = None
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class Criteria:
    """What holds for all rows.

    Args:
        alpha: the rate of false discoveries that labels and gates are held to, half of it in each direction.
        min_effect: smaller differences are never called better or worse; of the scale of scores.
        margin: an interval within ± this is called equivalent; of the scale of scores.
        min_ratio: as `min_effect`, for latency, cost and tokens: 0.05 is 5 %.
        few: fewer pairs (or clusters) than this are too few for a call.
        max_dropped: with a larger share of pairs dropped for errors, a row is unmeasurable.
        max_lost: with a larger share of scores lost to None, and more than by chance, a row is unmeasurable.
        evaluators: what differs for some, by glob; later ones win.
    """

    alpha: float = 0.05
    min_effect: float = 0.01
    margin: float = 0.02
    min_ratio: float = 0.05
    few: int = 10
    max_dropped: float = 0.05
    max_lost: float = 0.05
    evaluators: Mapping[str, EvaluatorCriteria] = field(default_factory=dict)

    def of(self, evaluator: str) -> EvaluatorCriteria:
        """What holds for one evaluator, effect and margin filled in."""
        direction, effect, margin = None, self.min_effect, self.margin
        for glob, own in self.evaluators.items():
            if fnmatchcase(evaluator, glob):
                direction = direction if own.higher_is_better is None else own.higher_is_better
                effect = effect if own.min_effect is None else own.min_effect
                margin = margin if own.margin is None else own.margin
        return EvaluatorCriteria(direction, effect, margin)

    @property
    def of_ratios(self) -> EvaluatorCriteria:
        """What holds for log ratios."""
        return EvaluatorCriteria(False, log(1 + self.min_ratio), log(1 + self.min_ratio))


_Parts: TypeAlias = "Limits | Criteria | EvaluatorCriteria"


class Severity(StrEnum):
    """What becomes of a rule that does not hold."""

    FAIL = "fail"
    WARN = "warn"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a suite; None leaves a rule to the wider setting.

    `min_judge_agreement` is what the lower bound of a judge's agreement with people has to be above before its scores
    count for `min_score`, `max_drop` and `fail_on_regression`. Rates and scores are in [0, 1]; costs in US dollars,
    tokens in counts, latency in milliseconds, all of the suite's whole run but for p95; a `_ratio` is a multiple of the
    base's over the cases of both. `max_lost_scores` is the share
    of scores that may turn to None. With `pass_rate_confidence` the pass rate fails only where its one-sided upper
    bound (Wilson) is below the limit. Mappings go by globs of evaluators. `severity` goes by the names of rules,
    `origin` says where each limit was set.
    """

    min_pass_rate: float | None = None
    pass_rate_confidence: float | None = None
    max_error_rate: float | None = None
    max_lost_scores: float | None = None
    min_score: Mapping[str, float] = field(default_factory=dict)
    max_drop: Mapping[str, float] = field(default_factory=dict)
    fail_on_regression: bool | None = None
    fail_on_critical: bool | None = None
    max_cost: float | None = None
    max_cost_ratio: float | None = None
    max_tokens: float | None = None
    max_tokens_ratio: float | None = None
    max_p95_ms: float | None = None
    max_p95_ratio: float | None = None
    min_judge_agreement: float | None = None
    severity: Mapping[str, Severity] = field(default_factory=dict)
    origin: Mapping[str, str] = field(default_factory=dict)

    def over(self, narrow: Limits) -> Limits:
        """These, with what the narrower ones set in their place; mappings are merged."""
        merged: dict[str, Any] = {}
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(narrow, each.name)
            merged[each.name] = {**mine, **theirs} if isinstance(mine, Mapping) else mine if theirs is None else theirs
        return replace(self, **merged)

    @property
    def relative_gates(self) -> tuple[str, ...]:
        """The names of those that are set and need a base."""
        return tuple(name for name in _RELATIVE if getattr(self, name) not in (None, False, {}))

    def where(self, *names: str) -> str:
        """Where a limit was set: the first of these names that is known."""
        return next((self.origin[name] for name in names if name in self.origin), "default")


_RELATIVE = (
    "max_drop",
    "fail_on_regression",
    "fail_on_critical",
    "max_cost_ratio",
    "max_tokens_ratio",
    "max_p95_ratio",
)
DEFAULTS = Limits(min_pass_rate=1.0, max_error_rate=0.05, severity={"comparable": Severity.WARN})


@dataclass(frozen=True, slots=True)
class Policy:
    """The limits for all suites, and those of suites by glob, later ones winning.

    `require_baseline`: without a base nothing is measured. `criteria`: by what measure differences count.
    `of_base`: a run is to be judged by its base's policy, not by its own. `min_overrides`: so many reviews it takes to
    say how well a judge agrees with people.
    """

    default: Limits = DEFAULTS
    suites: Mapping[str, Limits] = field(default_factory=dict)
    require_baseline: bool = False
    criteria: Criteria = field(default_factory=Criteria)
    of_base: bool = False
    min_overrides: int = 10

    @property
    def asks_for_calibration(self) -> bool:
        """Whether some judges may fail a run only if they agree with people."""
        return any(each.min_judge_agreement is not None for each in (self.default, *self.suites.values()))

    def of(self, suite: SuiteResult) -> Limits:
        """The limits that hold for one suite."""
        found = self.default
        for glob, limits in self.suites.items():
            if matches_suite(suite, glob):
                found = found.over(limits)
        return found

    @property
    def relative_gates(self) -> tuple[str, ...]:
        """The names of the limits that need a base, for all suites or for some."""
        names = (name for limits in (self.default, *self.suites.values()) for name in limits.relative_gates)
        return tuple(dict.fromkeys(names))

    def criteria_of(self, suite: SuiteResult) -> Criteria:
        """By what measure differences of one suite count: its own limits for errors and lost scores."""
        limits, criteria = self.of(suite), self.criteria
        dropped, lost = limits.max_error_rate, limits.max_lost_scores
        return replace(
            criteria,
            max_dropped=criteria.max_dropped if dropped is None else dropped,
            max_lost=criteria.max_lost if lost is None else lost,
        )


def matches_suite(suite: SuiteResult, glob: str) -> bool:
    """Whether the limits of a glob are those of a suite."""
    return fnmatchcase(suite.id, glob) or fnmatchcase(suite.label, glob)


def policy_differences(old: Policy, new: Policy) -> Iterator[str]:
    """What a change of policy changes, limit by limit, in words."""
    yield from _limit_differences(" for all suites", old.default, new.default)
    for glob in dict.fromkeys([*old.suites, *new.suites]):
        yield from _limit_differences(
            f" for suites {glob!r}", old.suites.get(glob, Limits()), new.suites.get(glob, Limits())
        )
    if old.require_baseline != new.require_baseline:
        yield f"require_baseline: {_format_limit(old.require_baseline)} → {_format_limit(new.require_baseline)}"
    if old.of_base != new.of_base:
        yield f"policy_from: {'base → head' if old.of_base else 'head → base'}"
    if old.min_overrides != new.min_overrides:
        yield f"min_overrides: {old.min_overrides} → {new.min_overrides}"
    yield from _limit_differences("", old.criteria, new.criteria)
    mine, theirs = old.criteria.evaluators, new.criteria.evaluators
    for glob in dict.fromkeys([*mine, *theirs]):
        unset = EvaluatorCriteria()
        yield from _limit_differences(f" for evaluators {glob!r}", mine.get(glob, unset), theirs.get(glob, unset))


def _limit_differences(what: str, old: _Parts, new: _Parts) -> Iterator[str]:
    for each in fields(old):
        mine, theirs = getattr(old, each.name), getattr(new, each.name)
        if each.name in ("origin", "evaluators") or mine == theirs:
            continue
        if not isinstance(mine, Mapping):
            yield f"{each.name}{what}: {_format_limit(mine)} → {_format_limit(theirs)}"
            continue
        for key in dict.fromkeys([*mine, *theirs]):
            if mine.get(key) != theirs.get(key):
                yield f"{each.name}.{key}{what}: {_format_limit(mine.get(key))} → {_format_limit(theirs.get(key))}"


def _format_limit(value: object) -> str:
    if value is None:
        return "not set"
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
