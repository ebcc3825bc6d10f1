"""Long text made to fit where models read it: what stands in the middle is left out, and a note says how much."""

from __future__ import annotations

_NOTE = 40


def cut(text: str, longest: int) -> str:
    """The text in at most `longest` characters (100 at least): its beginning, a note, its end."""
    if len(text) <= longest:
        return text
    half = (longest - _NOTE) // 2
    return f"{text[:half]}… {len(text) - 2 * half:,} characters left out …{text[-half:]}"
