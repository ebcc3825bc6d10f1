"""The policy that a run is checked against: limits for all suites and for single suites, and criteria of change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, field, fields, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from math import log
from typing import Any, NamedTuple, TypeAlias

from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.run import SuiteResult


@record
class EvaluatorCriteria:
    """The criteria of one evaluator; None leaves a value to `Criteria` or to the evaluator itself.

    Attributes:
        higher_is_better: whether a higher score is better.
        min_effect: see `Criteria`, in the unit of the scores.
        margin: see `Criteria`, in the unit of the scores.
        scale: the lowest and the highest score that it gives; its scores are mapped from there to [0, 1].
        threshold: the range in which its scores pass, on its own scale; it replaces the suite's.
        ignore: whether its results are left out.
    """

    higher_is_better: bool | None = None
    min_effect: float | None = None
    margin: float | None = None
    scale: tuple[float, float] | None = None
    threshold: Threshold | None = None
    ignore: bool | None = None

    @property
    def keeps_scores(self) -> bool:
        """Whether scores are recorded as the suite reports them."""
        return self.scale is None and self.threshold is None and not self.ignore


@record
class Criteria:
    """The criteria by which rows of a comparison are labelled.

    Attributes:
        alpha: the false discovery rate of labels and gates, in (0, 1), half of it in each direction.
        min_effect: the smallest difference of scores that is called better or worse, in [0, 1].
        margin: a difference that certainly lies within ± margin is called equivalent, in [0, 1].
        min_ratio: the smallest relative change of latency, cost and tokens that counts; 0.05 is 5 %.
        few: with fewer pairs (or clusters), a row is labelled `too few`.
        max_dropped: with a larger share of pairs without a value because of errors, a row is unmeasurable.
        max_lost: with a larger share of scores lost to None, and significantly many, a row is unmeasurable.
        evaluators: criteria of single evaluators, by glob; later globs win.
    """

    alpha: float = 0.05
    min_effect: float = 0.01
    margin: float = 0.02
    min_ratio: float = 0.05
    few: int = 10
    max_dropped: float = 0.05
    max_lost: float = 0.05
    evaluators: Mapping[str, EvaluatorCriteria] = field(default_factory=dict)

    def evaluator_criteria(self, evaluator: str) -> EvaluatorCriteria:
        """The criteria of one evaluator; `min_effect` and `margin` are never None."""
        merged = EvaluatorCriteria(None, self.min_effect, self.margin)
        for glob, own in self.evaluators.items():
            if fnmatchcase(evaluator, glob):
                given = {each.name: getattr(own, each.name) for each in fields(own)}
                merged = replace(merged, **{name: value for name, value in given.items() if value is not None})
        return merged

    @property
    def score_settings(self) -> list[tuple[str, tuple[float, float] | None, Threshold | None, bool | None]]:
        """The settings by which scores are recorded, in their order: later globs win, also with `ignore = false`."""
        every = ((glob, own.scale, own.threshold, own.ignore) for glob, own in self.evaluators.items())
        return [each for each in every if any(value is not None for value in each[1:])]

    @property
    def ratio_criteria(self) -> EvaluatorCriteria:
        """The criteria of latency, cost and tokens, for logarithms of ratios."""
        return EvaluatorCriteria(False, log(1 + self.min_ratio), log(1 + self.min_ratio))


LimitValue: TypeAlias = "float | bool | str | Mapping[str, float] | None"
_Parts: TypeAlias = "Limits | Criteria | EvaluatorCriteria"


class Severity(StrEnum):
    """The effect of a failed rule on the run."""

    FAIL = "fail"
    WARN = "warn"
    OFF = "off"


@record
class Limits:
    """The limits of a suite; None leaves a limit to the wider setting.

    Costs and tokens are totals of the suite's whole run. A `_ratio` is a multiple of the baseline's value, over the
    cases that both have.

    Attributes:
        min_pass_rate: the required pass rate, in [0, 1].
        pass_rate_confidence: the pass rate fails only if its one-sided upper bound (Wilson) is below the limit.
        max_error_rate: the allowed share of cases with errors, in [0, 1].
        max_lost_scores: the allowed share of scores that become None, in [0, 1].
        min_score: the required mean score, by glob of evaluators.
        max_drop: the allowed drop of the mean score, by glob of evaluators.
        more: the limits of features, by name.
        fail_on_regression: whether a row with the label `worse` fails the run.
        fail_on_critical: whether a newly failing critical case fails the run.
        max_cost: US dollars.
        max_cost_ratio: a multiple of the baseline's cost.
        max_tokens: the number of tokens.
        max_tokens_ratio: a multiple of the baseline's tokens.
        max_p95_ms: the 95th percentile of latency, in milliseconds.
        max_p95_ratio: a multiple of the baseline's 95th percentile.
        min_judge_agreement: a judge's scores count for `min_score`, `max_drop` and `fail_on_regression` only if the
            lower bounds of its balanced accuracy and of its share of found failures are above this, in [0, 1].
        cluster: the field of a case, or the pattern of its name, that names its cluster.
        severity: the effect of a failed rule, by the name of the rule.
        origin: where each limit is set.
    """

    min_pass_rate: float | None = None
    pass_rate_confidence: float | None = None
    max_error_rate: float | None = None
    max_lost_scores: float | None = None
    min_score: Mapping[str, float] = field(default_factory=dict)
    max_drop: Mapping[str, float] = field(default_factory=dict)
    more: Mapping[str, LimitValue] = field(default_factory=dict)
    fail_on_regression: bool | None = None
    fail_on_critical: bool | None = None
    max_cost: float | None = None
    max_cost_ratio: float | None = None
    max_tokens: float | None = None
    max_tokens_ratio: float | None = None
    max_p95_ms: float | None = None
    max_p95_ratio: float | None = None
    min_judge_agreement: float | None = None
    cluster: str | None = None
    severity: Mapping[str, Severity] = field(default_factory=dict)
    origin: Mapping[str, str] = field(default_factory=dict)

    def merge(self, narrow: Limits) -> Limits:
        """Replace limits by the ones that narrower limits set; mappings are merged."""
        merged = dict(self.items())
        for name, value in narrow.items():
            if isinstance(value, Mapping):
                merged[name] = {**(merged.get(name) or {}), **value}
            elif value is not None:
                merged[name] = value
        return Limits(**gather_limits(merged))

    def items(self) -> Iterator[tuple[str, Any]]:
        """All names and values, with the limits of features among those of the kernel."""
        for each in fields(self):
            if each.name == "more":
                yield from self.more.items()
            else:
                yield each.name, getattr(self, each.name)

    def get(self, name: str, default: object) -> Any:
        """The value of a limit; the default if nothing sets it."""
        return getattr(self, name) if name in _KERNEL_LIMITS else self.more.get(name, default)

    def find_origin(self, *names: str) -> str:
        """Where a limit is set: the origin of the first of these names that has one."""
        return next((self.origin[name] for name in names if name in self.origin), "default")

    def is_from_set(self, name: str) -> bool:
        """Whether a set of gates gives the limit, and nothing sets it by itself."""
        return self.origin.get(name, "").endswith(OF_SET)


# What the origins of limits end with that a set of gates gives.
OF_SET = " (gates)"
_KERNEL_LIMITS = frozenset(each.name for each in fields(Limits))


def is_limit(value: object) -> bool:
    """Whether the value of a limit limits anything; 0 does, and the choice `off` doesn't."""
    return value is not None and value is not False and value not in ({}, "off")


def gather_limits(values: Mapping[str, Any]) -> dict[str, Any]:
    """Limits by name as the arguments of `Limits`, which keeps those of features together."""
    more = {name: value for name, value in values.items() if name not in _KERNEL_LIMITS}
    return {**{name: value for name, value in values.items() if name in _KERNEL_LIMITS}, "more": more}


DEFAULTS = Limits(min_pass_rate=1.0, max_error_rate=0.05, severity={"comparable": Severity.WARN})


@record
class Policy:
    """The limits and criteria that a run is checked against.

    Attributes:
        default: the limits for all suites.
        suites: the limits for suites by glob; later globs win.
        require_baseline: whether a run without a baseline is unmeasurable.
        criteria: the criteria by which rows are labelled.
        of_base: whether a run is judged by the policy of its baseline instead of its own.
        min_overrides: the number of reviews at the first check of a judge, see `check_judge`.
    """

    default: Limits = DEFAULTS
    suites: Mapping[str, Limits] = field(default_factory=dict)
    require_baseline: bool = False
    criteria: Criteria = field(default_factory=Criteria)
    of_base: bool = False
    min_overrides: int = 10

    @property
    def all_limits(self) -> tuple[Limits, ...]:
        """The limits for all suites, and those for some."""
        return (self.default, *self.suites.values())

    def to_record(self) -> dict[str, Any]:
        """The policy as a run stores it, with the limits of features among those of the kernel."""
        suites = {glob: dict(limits.items()) for glob, limits in self.suites.items()}
        return {**asdict(self), "default": dict(self.default.items()), "suites": suites}

    @property
    def asks_for_calibration(self) -> bool:
        """Whether a limit depends on the agreement of judges with people."""
        return any(each.min_judge_agreement is not None for each in self.all_limits)

    def limits_of(self, suite: SuiteResult) -> Limits:
        """The limits of one suite."""
        merged = self.default
        for glob, limits in self.suites.items():
            if matches_suite(suite, glob):
                merged = merged.merge(limits)
        return merged

    @property
    def cluster_settings(self) -> dict[str, str]:
        """The settings by which clusters are recorded, by glob of suites; empty for all suites."""
        limits = {"": self.default, **self.suites}
        return {glob: each.cluster for glob, each in limits.items() if each.cluster is not None}

    def criteria_of(self, suite: SuiteResult) -> Criteria:
        """The criteria of one suite, with its limits for errors and lost scores."""
        limits, criteria = self.limits_of(suite), self.criteria
        dropped, lost = limits.max_error_rate, limits.max_lost_scores
        return replace(
            criteria,
            max_dropped=criteria.max_dropped if dropped is None else dropped,
            max_lost=criteria.max_lost if lost is None else lost,
        )


def matches_suite(suite: SuiteResult, glob: str) -> bool:
    """Whether the id or the label of a suite matches a glob, or the evaluation that it is a model or prompt of."""
    evaluation = () if suite.setup is None else (suite.setup.evaluation,)
    return any(fnmatchcase(name, glob) for name in (suite.id, suite.label, *evaluation))


def policy_differences(old: Policy, new: Policy) -> Iterator[str]:
    """Describe each difference between two policies."""
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
    yield from _criteria_differences(old, new)
    before, after = old.criteria.evaluators, new.criteria.evaluators
    for glob in dict.fromkeys([*before, *after]):
        unset = EvaluatorCriteria()
        yield from _limit_differences(f" for scorers {glob!r}", before.get(glob, unset), after.get(glob, unset))


# Criteria that have the value of a limit, which is the name that settings know.
_CRITERIA_OF_LIMITS = {"max_dropped": "max_error_rate", "max_lost": "max_lost_scores"}


def _criteria_differences(old: Policy, new: Policy) -> Iterator[str]:
    """The differences of criteria; one that repeats a limit is named like it, and only if the limit is equal."""
    for difference in _limit_differences("", old.criteria, new.criteria):
        name, colon, values = difference.partition(":")
        limit = _CRITERIA_OF_LIMITS.get(name, "")
        if not limit or getattr(old.default, limit) == getattr(new.default, limit):
            yield f"{limit or name}{colon}{values}"


def _limit_differences(subject: str, old: _Parts, new: _Parts) -> Iterator[str]:
    old_values, new_values = _list_values(old), _list_values(new)
    for name in dict.fromkeys([*old_values, *new_values]):
        before, after = old_values.get(name), new_values.get(name)
        if name in ("origin", "evaluators") or before == after:
            continue
        if not isinstance(before, Mapping) and not isinstance(after, Mapping):
            yield f"{name}{subject}: {_format_limit(before)} → {_format_limit(after)}"
            continue
        before, after = before or {}, after or {}
        for key in dict.fromkeys([*before, *after]):
            if before.get(key) != after.get(key):
                yield f"{name}.{key}{subject}: {_format_limit(before.get(key))} → {_format_limit(after.get(key))}"


def _list_values(part: _Parts) -> dict[str, Any]:
    return dict(part.items()) if isinstance(part, Limits) else {n.name: getattr(part, n.name) for n in fields(part)}


def _format_limit(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, tuple):
        return f"[{', '.join(f'{each:g}' for each in value)}]"
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


class OneRunLimit(NamedTuple):
    """A limit that was set for one run, and not in a file: its setting, the path below it, where, and its value."""

    name: str
    path: str
    place: str
    value: Any


# What the places of values start with that an option, a variable or an input of the action sets.
_FOR_ONE_RUN = ("--", "SCOREGATE_", "INPUT_")


def list_one_run_limits(policy: Mapping[str, Any]) -> Iterator[OneRunLimit]:
    """The limits of a recorded policy that were set for its run alone.

    Args:
        policy: a `Policy` as a record has it.
    """
    default = policy.get("default")
    if not isinstance(default, Mapping) or not isinstance(origin := default.get("origin"), Mapping):
        return
    for path, place in origin.items():
        name, _, rest = str(path).partition(".")
        if name in default and isinstance(place, str) and place.startswith(_FOR_ONE_RUN):
            yield OneRunLimit(name, rest, place, default.get(name))
