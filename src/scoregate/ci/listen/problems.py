"""What is wrong with a suite or a command itself: each thing told once, and not without end."""

from __future__ import annotations

from scoregate.core.events import ErrorInfo

_MOST = 100


class Problems:
    """Those of one suite, or of a command."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def fresh(self, error: ErrorInfo) -> ErrorInfo | None:
        """What is to be told of an error: itself, or in the place of the first too many that there are more."""
        sign = (error.type, error.message)
        if sign in self._told or len(self._told) > _MOST:
            return None
        self._told.add(sign)
        if len(self._told) > _MOST:
            return ErrorInfo("TooMany", f"… and more: only the first {_MOST} are told")
        return error
