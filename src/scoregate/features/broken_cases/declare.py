"""The limit `fail_on_broken_cases`."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from scoregate.kernel.types.declarations.declaration import (
    ExtraTrials,
    Feature,
    Limit,
    Option,
    Rule,
    RunFacts,
    choose_from,
)
from scoregate.kernel.types.declarations.fields import GateSet
from scoregate.kernel.types.runs.policy import Limits, Policy


class BrokenCases(StrEnum):
    """Which newly failing cases run again on both sides: none, those that always passed in the base, or all."""

    OFF = "off"
    STABLE = "stable"
    ALL = "all"


RULE = Rule("broken case", "Broken cases")
FAIL_ON_BROKEN_CASES: Limit[Any] = Limit(
    "fail_on_broken_cases",
    choose_from(BrokenCases),
    """Fail if a newly failing case fails in further trials, and passes in those of the base: `stable` for cases that
    passed in every trial of the base, `all` for all (at most 15 in each run). Both sides run again in turn, each time
    in a process of its own, and only these trials count. Without it: `stable` if `fail_on_regression` is set, else
    `off`.
    """,
    is_relative=True,
    option=Option("gate", "Fail if newly failing cases fail in further trials, and not in those of the base."),
    in_sets={GateSet.STRICT: BrokenCases.ALL},
)


def choose_mode(limits: Limits) -> BrokenCases:
    """Which cases of a suite run again by its limits."""
    if (chosen := FAIL_ON_BROKEN_CASES.of(limits)) is not None:
        return BrokenCases(chosen)
    return BrokenCases.STABLE if limits.fail_on_regression else BrokenCases.OFF


def _is_set(policy: Policy) -> bool:
    return any(choose_mode(limits) is not BrokenCases.OFF for limits in policy.all_limits)


def _describe_costs(settings: Any) -> str:
    if not _is_set(settings.policy()):
        return ""
    return "Cases that always passed in the baseline and fail run again on both sides; that is in no estimate"


_TRIALS = ExtraTrials(_describe_costs, needs_base=lambda settings: _is_set(settings.policy()))


def _is_on(facts: RunFacts) -> bool:
    return any(map(_is_set, facts.policies))


FEATURE = Feature("broken_cases", (RULE,), (FAIL_ON_BROKEN_CASES,), trials=_TRIALS, is_on=_is_on)
