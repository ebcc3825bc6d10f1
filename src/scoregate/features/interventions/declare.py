"""The setting `explain_regressions`."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from scoregate.kernel.types.declarations.declaration import (
    Effect,
    ExtraTrials,
    Feature,
    RunFacts,
    Setting,
    choose_from,
)


class Explain(StrEnum):
    """Whether a gate that fails for newly failing cases asks for the cause."""

    OFF = "off"
    AUTO = "auto"


EXPLAIN_REGRESSIONS = Setting[Explain](
    "explain_regressions",
    choose_from(Explain),
    Explain.OFF,
    """If a gate on changes fails, find the part of the change that caused it: revert its files and hunks in copies of
    the work tree, and run the cases that fell again (`auto`). It takes at most as many trials as three runs of their
    suites, or 200.
    """,
    "Gates",
    after="confirm",
    below="confirm",
    effects=(Effect.SHARED,),
)
SLOT = "interventions.explanation"


def _is_on(facts: RunFacts) -> bool:
    return EXPLAIN_REGRESSIONS.of(facts.settings) is Explain.AUTO or facts.has_slot(SLOT)


def _describe_costs(settings: Any) -> str:
    if EXPLAIN_REGRESSIONS.of(settings) is Explain.OFF:
        return ""
    return (
        "To find the cause of a regression, cases run again, at most as often as in three runs; that is in no estimate"
    )


FEATURE = Feature("interventions", settings=(EXPLAIN_REGRESSIONS,), trials=ExtraTrials(_describe_costs), is_on=_is_on)
