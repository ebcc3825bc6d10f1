"""How long to wait before a request is sent again, by what the answer says."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    import httpx

LONGEST_S = 60.0
ALTOGETHER_S = 180.0
_FAULTS = (500, 502, 503, 504)
_LIMITED = (403, 429)


@dataclass(slots=True)
class Patience:
    """Seconds that may be lost to refusals and silence; once they are used up, nothing is tried a second time.

    Nor once `stop` is set: then there are seconds left for everything.
    """

    left_s: float = ALTOGETHER_S
    stop: anyio.Event | None = None

    def lasts(self, lost: float, pause: float) -> bool:
        """Whether there is time for a pause, after a try that was lost."""
        self.left_s -= lost
        if pause > self.left_s or (self.stop is not None and self.stop.is_set()):
            return False
        self.left_s -= pause
        return True


def seconds_to_wait(answer: httpx.Response | httpx.RequestError, tries: int) -> float | None:
    """Seconds until a further try makes sense; None where none does, or not within a minute.

    Args:
        answer: what came, or how the connection broke. tries: how many were made.
    """
    if isinstance(answer, Exception):
        return 2.0 ** (tries - 1)
    if answer.status_code in _FAULTS:
        return min(_told(answer) or 2.0 ** (tries - 1), LONGEST_S)
    if not is_rate_limited(answer):
        return None
    told = _told(answer)
    pause = told if told is not None else 5.0 * 2 ** (tries - 1)
    return pause if pause <= LONGEST_S else None


def is_rate_limited(answer: httpx.Response) -> bool:
    """Whether GitHub would do later what it refuses now."""
    if answer.status_code not in _LIMITED:
        return False
    told = "retry-after" in answer.headers or answer.headers.get("x-ratelimit-remaining") == "0"
    return answer.status_code == 429 or told or "rate limit" in answer.text[:2000].lower()


def _told(answer: httpx.Response) -> float | None:
    """What the headers say, in seconds from now."""
    if (after := _number(answer, "retry-after")) is not None:
        return after
    reset = _number(answer, "x-ratelimit-reset")
    if reset is not None and answer.headers.get("x-ratelimit-remaining") == "0":
        return max(1.0, reset - time.time())
    return None


def _number(answer: httpx.Response, header: str) -> float | None:
    text = answer.headers.get(header, "")
    return float(text) if text.isascii() and text.isdigit() else None
