"""Words for whoever ran something by hand, with nothing in them that steers a terminal."""

from __future__ import annotations

import sys


def print_text(text: str) -> None:
    """Print it; what the terminal's encoding lacks becomes a question mark."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding))


def one_line(text: str, limit: int) -> str:
    """The characters of `text` that can be seen, on one line: at most `limit`, the last a `…` where there were more."""
    folded = "".join(char for char in " ".join(text.split()) if char.isprintable())
    return folded if len(folded) <= limit else f"{folded[: limit - 1]}…"
