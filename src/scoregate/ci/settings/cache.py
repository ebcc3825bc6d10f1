"""The setting `cache`: a mode, a folder, or both."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

_MODES = ("on", "off", "readonly", "refresh")
_MEANT = {"true": "on", "yes": "on", "false": "off", "no": "off", "none": "off", "0": "off", "disabled": "off"}
_FOLDER = ".scoregate-cache"


def _known(cache: str) -> str:
    """As it is, unless it looks like a misspelt mode: as a folder, it would keep answers that nobody wants kept."""
    word = cache.partition(":")[0]
    if word not in _MODES and (meant := _mode_like(word.strip().casefold())):
        raise ValueError(f"did you mean {meant}? A folder of this name is written ./{word}")
    return cache


def _mode_like(word: str) -> str | None:
    close = () if "/" in word else get_close_matches(word, _MODES, n=1, cutoff=0.8)
    return _MEANT.get(word) or next(iter(close), None)


Cache = Annotated[str, Field(min_length=1), AfterValidator(_known)]


def cache_at(root: Path, cache: str) -> str:
    """The setting `cache` (a mode, a folder, or both as MODE:FOLDER) with its folder made absolute."""
    word, _, folder = cache.partition(":")
    mode, folder = (word, folder) if word in _MODES else ("on", cache)
    return f"{mode}:{root / (folder or _FOLDER)}"
