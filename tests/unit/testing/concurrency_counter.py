"""Counts how many calls are in flight at once."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

from tests.unit.testing.builders import PASS

from scoregate.testing.models import Evaluation


class ConcurrencyCounter:
    """Each call waits until the expected number is in flight, then a moment longer, to detect one too many."""

    def __init__(self, expected: int) -> None:
        self.most = 0
        self._expected = expected
        self._live = 0
        self._lock = threading.Lock()

    def call(self, *_: Any, **__: Any) -> Evaluation:
        deadline = self._enter()
        while self.most < self._expected and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(0.005)
        self._leave()
        return PASS

    async def call_async(self, *_: Any, **__: Any) -> Evaluation:
        deadline = self._enter()
        while self.most < self._expected and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.005)
        self._leave()
        return PASS

    def _enter(self) -> float:
        with self._lock:
            self._live += 1
            self.most = max(self.most, self._live)
        return time.monotonic() + 60

    def _leave(self) -> None:
        with self._lock:
            self._live -= 1
