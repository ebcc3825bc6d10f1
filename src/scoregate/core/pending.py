"""An evaluation that waits for a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from scoregate.core.evaluation import Threshold


@dataclass(frozen=True, slots=True)
class Contest:
    """Two outputs of one case of which people are to say which is better.

    Args:
        baseline: the output so far. challenger: the new one. rubric: what they are to judge by.
        threshold: the range in which the challenger's score (1 won, 0.5 a tie, 0 lost) passes.
    """

    baseline: str
    challenger: str
    rubric: str | None = None
    threshold: Threshold | None = None


class Pending(NamedTuple):
    """What an evaluator returns where people are to judge: reported, and neither passed nor failed.

    `rubric` is what they are to judge by; `contest` is what they are shown, where it is two outputs.
    """

    rubric: str | None = None
    contest: Contest | None = None
