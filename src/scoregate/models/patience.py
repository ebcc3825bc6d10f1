"""How often and how long one question is asked again."""

from __future__ import annotations

import time
from random import uniform

from scoregate.models.failures import Failure, Kind

MOST_ATTEMPTS, MOST_REFUSALS, MOST_WAIT_S = 5, 20, 600.0


class Patience:
    """Of one question: `MOST_ATTEMPTS` failures, or `MOST_REFUSALS` refusals over `MOST_WAIT_S` seconds, are enough."""

    def __init__(self) -> None:
        self.refusals = self.failures = 0
        self._since = time.monotonic()

    def after(self, failure: Failure) -> float | None:
        """Seconds to wait, besides the limiter's own waits; None where it is enough."""
        if failure.kind is Kind.FINAL or (failure.after_s or 0.0) > MOST_WAIT_S:
            return None
        if failure.kind is Kind.LIMIT:
            if self.refusals == 0:
                self._since = time.monotonic()
            self.refusals += 1
            is_over = self.refusals >= MOST_REFUSALS or time.monotonic() - self._since > MOST_WAIT_S
            return None if is_over else 0.0
        self.failures += 1
        if self.failures >= MOST_ATTEMPTS:
            return None
        return failure.after_s or uniform(0.5, 1.0) * 0.5 * 2 ** (self.failures - 1)
