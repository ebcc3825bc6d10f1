"""What turns the shared history on: its address, or the baseline that it has."""

from __future__ import annotations

from scoregate.kernel.types.declarations.declaration import Feature, RunFacts

VARIABLE = "SCOREGATE_HISTORY"


def _is_on(facts: RunFacts) -> bool:
    return facts.settings.baseline_kind == "history" or VARIABLE in facts.environ


FEATURE = Feature("history", is_on=_is_on)
