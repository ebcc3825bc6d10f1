"""Wait for an event."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(holds: Callable[[], object], limit_s: float = 90) -> None:
    """Look again and again until a condition holds; after the limit, the test fails."""
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)
