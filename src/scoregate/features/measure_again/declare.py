"""The setting `measure_again`."""

from __future__ import annotations

from typing import Any

from scoregate.kernel.types.declarations.declaration import FLAG, ExtraTrials, Feature, RunFacts, Setting
from scoregate.kernel.types.declarations.kernel import FAIL_ON_REGRESSION, MAX_DROP
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.policy import Policy

MEASURE_AGAIN = Setting(
    "measure_again",
    FLAG,
    True,
    """Before `max_drop` or `fail_on_regression` fails a run, run its suites again: twice here, and once at the base's
    commit if that can run. All trials together decide, at half of the level. Drops that are certain, and runs that
    another gate fails, need no more trials. The last run on a developer's machine as the baseline asks for none.
    """,
    "The comparison",
    after="approved",
)


def _is_watched(policy: Policy) -> bool:
    return MAX_DROP.is_set_for_any(policy) or FAIL_ON_REGRESSION.is_set_for_any(policy)


def _may_measure(settings: Any) -> bool:
    return bool(MEASURE_AGAIN.of(settings)) and _is_watched(settings.policy())


def _describe_costs(settings: Any) -> str:
    if not _may_measure(settings):
        return ""
    return "Before a gate on scores fails, its suites run twice more here and once in the base: the upper end has that"


_TRIALS = ExtraTrials(_describe_costs, most=lambda settings: 3.0 if _may_measure(settings) else 0.0)


def _is_on(facts: RunFacts) -> bool:
    if any(run.companions_of(TrialRole.AGAIN) for run in facts.runs):
        return True
    return bool(MEASURE_AGAIN.of(facts.settings)) and any(map(_is_watched, facts.policies))


FEATURE = Feature("measure_again", settings=(MEASURE_AGAIN,), trials=_TRIALS, is_on=_is_on)
