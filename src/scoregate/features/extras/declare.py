"""The setting `repeats_budget`."""

from __future__ import annotations

from typing import Any

from scoregate.kernel.types.declarations.declaration import FACTOR, ExtraTrials, Feature, RunFacts, Setting

REPEATS_BUDGET = Setting(
    "repeats_budget",
    FACTOR,
    1.0,
    'How many trials `repeats = "auto"` may add, as a multiple of the trials of one round.',
    "What runs",
    after="repeats",
)


def _count_most(settings: Any) -> float:
    return REPEATS_BUDGET.of(settings) if settings.repeats == "auto" else 0.0


def _is_on(facts: RunFacts) -> bool:
    return bool(facts.settings.repeats == "auto")


FEATURE = Feature("extras", settings=(REPEATS_BUDGET,), trials=ExtraTrials(most=_count_most), is_on=_is_on)
