"""The settings and the rule of `max_decline`."""

from __future__ import annotations

import re
from typing import Literal

from scoregate.kernel.types.declarations.declaration import (
    ANY_TEXT,
    BY_EVALUATOR,
    Feature,
    Limit,
    Rule,
    RunFacts,
    Setting,
)
from scoregate.kernel.types.records import record

_WINDOW = re.compile(r"([1-9][0-9]{0,3}) (run|day)s?")


@record
class Window:
    """How far back an earlier run is: a number of runs, or of days.

    Attributes:
        number: how many.
        unit: what is counted.
    """

    number: int
    unit: Literal["run", "day"]

    def __str__(self) -> str:
        return f"{self.number} {self.unit}{'s' if self.number > 1 else ''}"


def parse_window(text: str) -> Window:
    """A window such as `10 runs` or `30 days`.

    Raises:
        ValueError: it is none.
    """
    match = _WINDOW.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r:.100} must be a number of runs or days, such as '10 runs' or '30 days'")
    return Window(int(match[1]), "run" if match[2] == "run" else "day")


def _check_window(text: str) -> str:
    parse_window(text)
    return text


RULE = Rule("decline", "A score declined", "Decline", drop_from="past")
MAX_DECLINE = Limit(
    "max_decline",
    BY_EVALUATOR,
    """Fail if the mean score of a scorer is worse than in an earlier run of the same branch by more than this, and
    by more than noise: one number for all, or a table by globs of scorers. `decline_window` sets which run. It
    applies to pushes and scheduled runs, not to pull requests.
    """,
)
DECLINE_WINDOW = Setting(
    "decline_window",
    ANY_TEXT,
    "10 runs",
    """The earlier run that `max_decline` compares with: so many `runs` ago, each of another commit, or the newest that
    is at least so many `days` old.
    """,
    "Gates",
    "a number of runs or days, such as `10 runs` or `30 days`",
    check=_check_window,
)


def _is_on(facts: RunFacts) -> bool:
    is_limited = any(map(MAX_DECLINE.is_set_for_any, facts.policies))
    return is_limited or facts.has_slot("declined_from", "decline.earlier")


FEATURE = Feature("decline", (RULE,), (MAX_DECLINE,), (DECLINE_WINDOW,), is_on=_is_on)
