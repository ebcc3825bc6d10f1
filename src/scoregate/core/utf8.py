"""Text as files and servers take it."""

from __future__ import annotations


def whole(text: str) -> str:
    """The text; what has no form in UTF-8, half a surrogate pair, becomes `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
