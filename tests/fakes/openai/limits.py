"""Limits of a server: a bucket of requests that fills steadily, shown in OpenAI's headers."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Bucket:
    """So many requests a minute, `burst` of them at once, by default a second's worth.

    `waits` says whether refusals carry Retry-After, and `fine` whether also in milliseconds; `tells`, whether answers
    carry the state of the bucket.
    """

    per_minute: float
    burst: float = 0.0
    is_empty: bool = True
    tells: bool = True
    waits: bool = True
    fine: bool = True
    taken: int = 0
    refused: int = 0
    _level: float = field(init=False)
    _at: float = field(init=False)

    def __post_init__(self) -> None:
        self.burst = self.burst or max(1.0, self.per_second)
        self._level, self._at = 0.0 if self.is_empty else self.burst, time.monotonic()

    @property
    def per_second(self) -> float:
        return self.per_minute / 60

    def take(self) -> bool:
        """Take one request's worth, where there is one."""
        now = time.monotonic()
        self._level = min(self.burst, self._level + (now - self._at) * self.per_second)
        self._at = now
        if self._level < 1:
            self.refused += 1
            return False
        self._level -= 1
        self.taken += 1
        return True

    def headers(self, *, refused: bool) -> dict[str, str]:
        """The state of the bucket; `reset` is the time until it is full again."""
        state = {
            "x-ratelimit-limit-requests": f"{self.per_minute:.0f}",
            "x-ratelimit-remaining-requests": f"{int(self._level)}",
            "x-ratelimit-reset-requests": _format_seconds((self.burst - self._level) / self.per_second),
        }
        wait = (1 - self._level) / self.per_second
        after = {"retry-after": str(int(wait) + 1), **({"retry-after-ms": f"{wait * 1000:.0f}"} if self.fine else {})}
        return {**(state if self.tells else {}), **(after if refused and self.waits else {})}


def _format_seconds(seconds: float) -> str:
    """As OpenAI writes it: 1m30.5s, 120ms."""
    if seconds < 1:
        return f"{seconds * 1000:.0f}ms"
    return f"{int(seconds // 60)}m{seconds % 60:.3f}s" if seconds >= 60 else f"{seconds:.3f}s"
