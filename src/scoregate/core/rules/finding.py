"""What a rule found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Conclusion(StrEnum):
    """What the whole comes to. A failed gate is certain, so it wins over what could not be measured."""

    PASSED = "passed"
    FAILED = "failed"
    UNMEASURABLE = "unmeasurable"


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule applied: whether it holds, the value and limit in words, and where the limit was set.

    `bound` is the limit as a number, in the unit of what is measured; None where it is none. `uncertain`: it holds, but
    by less than noise, or although the estimate is beyond the limit.
    """

    rule: str
    conclusion: Conclusion
    value: str
    limit: str
    origin: str = "default"
    suite: str | None = None
    evaluator: str | None = None
    bound: float | None = None
    uncertain: bool = False
