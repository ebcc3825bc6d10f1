"""Questions that somebody in this process is asking right now: whoever has the same one waits for that answer."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from concurrent.futures import Future

_flights: dict[Hashable, Future[None]] = {}
_lock = threading.Lock()


def take_off(key: Hashable) -> Future[None] | None:
    """Begin to ask: None where nobody else does, else what ends when they have."""
    with _lock:
        if (other := _flights.get(key)) is not None:
            waiting: Future[None] = Future()
            other.add_done_callback(lambda _: _tell(waiting))
            return waiting
        _flights[key] = Future()
        return None


def _tell(waiting: Future[None]) -> None:
    if waiting.set_running_or_notify_cancel():
        waiting.set_result(None)


def landed(key: Hashable) -> None:
    """The answer is kept, or there is none."""
    with _lock:
        flight = _flights.pop(key)
    flight.set_result(None)
