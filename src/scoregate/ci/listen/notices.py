"""What the report should mention, each once, and not without end."""

from __future__ import annotations

from scoregate.ci.listen.ports import Hear

_MOST = 30


class Notices:
    """Tells notices of one command."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._told: set[str] = set()
        self._more = 0

    def tell(self, notice: str) -> None:
        """Mention it, if it was not before."""
        if notice in self._told:
            return
        if len(self._told) >= _MOST:
            self._more += 1
            return
        self._told.add(notice)
        self._hear.noticed(notice)

    def close(self) -> None:
        """Say how many were left out."""
        if self._more:
            self._hear.noticed(f"… and {self._more:,} more such notices")
