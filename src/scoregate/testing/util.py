"""Helpers for suites."""

from __future__ import annotations

import hashlib


def md5(text: str) -> str:
    """The MD5 digest of a text as 32 hexadecimal digits: a stable hash for a test case."""
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
