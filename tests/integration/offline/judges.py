"""Code judges as users write them."""

from __future__ import annotations

import time
from typing import Any

from scoregate.judges import BinaryResponse, Judge


class Matches(Judge[BinaryResponse]):
    """Sync: whether the output is the expected one."""

    def score(self, data: Any) -> BinaryResponse:
        return BinaryResponse(value=data["output"] == data["expected"], reason="compared")


class Broken(Judge[BinaryResponse]):
    """Raises at question 2."""

    async def score(self, data: Any) -> BinaryResponse:
        if data["input"] == "question 2":
            raise ValueError("cannot judge this")
        return BinaryResponse(value=True)


class Slow(Judge[BinaryResponse]):
    """Takes its time from question 3 on."""

    def score(self, data: Any) -> BinaryResponse:
        if data["input"] in ("question 3", "question 4"):
            time.sleep(300)
        return BinaryResponse(value=True)
