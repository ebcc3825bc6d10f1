"""Values that are secret by their shape alone: tokens of known issuers, private keys, passwords inside URLs."""

from __future__ import annotations

import re
from collections.abc import Iterator

# At the start of a word; JSON writes the end of a line as two characters, of which the last is a letter.
_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[bfnrt]))"
_KEY = r"(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
# Lengths are bounded, so that a text of any length is searched in time proportional to it.
_SHAPES = (
    rf"{_START}sk-(?=[A-Za-z_-]{{0,99}}[0-9])[A-Za-z0-9_-]{{20,512}}",
    rf"{_START}gh[oprsu]_[A-Za-z0-9]{{20,512}}",
    rf"{_START}github_pat_[A-Za-z0-9_]{{20,512}}",
    rf"{_START}A[KS]IA[0-9A-Z]{{16}}(?![0-9A-Za-z])",
    rf"{_START}xox[abeoprs]-[A-Za-z0-9-]{{10,512}}",
    rf"{_START}eyJ[A-Za-z0-9_-]{{8,2048}}\.eyJ[A-Za-z0-9_-]{{8,8192}}\.[A-Za-z0-9_-]{{8,2048}}",
    rf"-----BEGIN {_KEY}.{{0,16384}}?-----END {_KEY}",
)
_PASSWORD = r"""(?<=://)[^\s/?#@:"'<>\\]{0,256}:(?!\*\*\*@)([^\s/?#@"'<>\\]{1,256})@"""
_SHAPE = re.compile(f"({'|'.join(_SHAPES)})|{_PASSWORD}", re.DOTALL)

# As Rust's engine has it, without what looks around: it finds whatever the shapes find, and sometimes more.
ANY_SHAPE = (
    r"sk-[A-Za-z0-9_-]{20}|gh[oprsu]_[A-Za-z0-9]{20}|github_pat_[A-Za-z0-9_]{20}|A[KS]IA[0-9A-Z]{16}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10}|eyJ[A-Za-z0-9_-]{8,}\.eyJ|-----BEGIN [A-Z0-9 ]*PRIVATE KEY"
    r"|://[^\x00-\x20/?#@:]*:[^\x00-\x20/?#@]+@"
)


def shape_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where values of these shapes are; of a URL, its password alone."""
    for match in _SHAPE.finditer(text):
        yield match.span(match.lastindex or 0)
