"""What a comparison with a limit, a rule and a run conclude."""

from __future__ import annotations

from enum import StrEnum


class Conclusion(StrEnum):
    """The conclusion of a rule or a run. A failure is certain, so `failed` wins over `unmeasurable`."""

    PASSED = "passed"
    FAILED = "failed"
    UNMEASURABLE = "unmeasurable"
