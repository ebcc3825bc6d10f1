"""Fences around text that nobody vouches for: made from the text itself, so that it cannot hold its own end."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from scoregate.core.utf8 import whole
from scoregate.core.wire import dump, plain

_BAR = "="
_RUNS = re.compile(f"{_BAR}+")
_SHORTEST = 12


def fence_of(texts: Iterable[str]) -> str:
    """What begins and ends every block of these texts: a bar longer than any in them, and a digest of them all.

    The same texts always get the same fence, so that a question that was asked before is found again.
    """
    digest, longest = blake2b(digest_size=6), 0
    for text in texts:
        data = text.encode()
        digest.update(b"%d:%b" % (len(data), data))
        if _BAR in text:
            longest = max(longest, *map(len, _RUNS.findall(text)))
    return f"{_BAR * max(_SHORTEST, longest + 1)} {digest.hexdigest()}"


def text_of(value: Any) -> str:
    """A value as a prompt shows it: text as it is, all else as JSON."""
    return value if isinstance(value, str) else dump(plain(value)).decode()


def fenced(text: str, name: str = "output") -> str:
    """The text as a block of data for a prompt of one's own: judges are told not to obey what stands in such blocks.

    Args:
        text: what nobody vouches for. name: what it is, in a word or two of yours.
    """
    text = whole(text)
    fence = fence_of([text])
    return f"{fence} BEGIN {name}\n{text}\n{fence} END {name}"
