"""How far back an earlier run is."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator

from scoregate.core.records import record

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


def _check_window(value: str) -> str:
    parse_window(value)
    return value


WindowText = Annotated[str, AfterValidator(_check_window)]
