"""The setting `confirm`."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from scoregate.kernel.types.declarations.declaration import (
    Effect,
    ExtraTrials,
    Feature,
    Option,
    RunFacts,
    Setting,
    choose_from,
)
from scoregate.kernel.types.declarations.kernel import FAIL_ON_CRITICAL


class Confirm(StrEnum):
    """Which newly failing cases are run again before they count: none, those tagged critical, or all (at most 15)."""

    OFF = "off"
    CRITICAL = "critical"
    ALL = "all"


CONFIRM = Setting[Confirm | None](
    "confirm",
    choose_from(Confirm),
    None,
    """Run newly failing cases again before they count: none, those tagged `critical`, or all (at most 15). Without it:
    `critical` if `fail_on_critical` is set, else `off`.
    """,
    "Gates",
    after="github_token",
    below="fail_on_critical",
    effects=(Effect.SHARED,),
    option=Option(
        "running",
        "Rerun newly failing cases before they count: those tagged critical, or all (at most 15).",
        bare="critical",
    ),
)


def choose_cases(settings: Any) -> Confirm:
    """Which newly failing cases are run again: by default the critical ones, if they fail a gate."""
    if (chosen := CONFIRM.of(settings)) is not None:
        return chosen
    return Confirm.CRITICAL if FAIL_ON_CRITICAL.is_set_for_any(settings.policy()) else Confirm.OFF


def _describe_costs(settings: Any) -> str:
    is_off = choose_cases(settings) is Confirm.OFF
    return "" if is_off else "Newly failing cases that are confirmed run again; that is in no estimate"


_TRIALS = ExtraTrials(_describe_costs, needs_base=lambda settings: choose_cases(settings) is not Confirm.OFF)


def _is_on(facts: RunFacts) -> bool:
    return choose_cases(facts.settings) is not Confirm.OFF or facts.has_slot("confirmations")


FEATURE = Feature("confirm", settings=(CONFIRM,), trials=_TRIALS, is_on=_is_on)
