"""Which failures pass by themselves, and how long to wait for that."""

from __future__ import annotations

import sys
from typing import Any

MAX_WAIT_S = 30.0


def is_transient(error: BaseException) -> bool:
    """Whether trying again may help: time-outs, refused or broken connections, rate limits, server errors."""
    if isinstance(error, TimeoutError | ConnectionError):
        return True
    httpx: Any = sys.modules.get("httpx")
    if httpx is not None and isinstance(error, httpx.TimeoutException | httpx.NetworkError):
        return True
    openai: Any = sys.modules.get("openai")
    if openai is not None and isinstance(error, openai.APIConnectionError):
        return True
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and (status == 429 or 500 <= status < 600)


def wait_s(attempt: int) -> float:
    """Seconds to wait after the attempt of this number, from 1: random, up to 1, 2, 4 … 30."""
    import random

    return random.uniform(0, min(MAX_WAIT_S, 2.0 ** (attempt - 1)))
