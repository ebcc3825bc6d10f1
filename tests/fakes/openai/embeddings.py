"""Embeddings of texts: vectors of length one that are near where texts share words."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from math import sqrt
from typing import Any
from zlib import crc32

from tests.fakes.openai.chat import count_tokens

DIMENSIONS = 64


def build_response(body: Mapping[str, Any]) -> dict[str, Any]:
    given = body.get("input") or ""
    texts = [given] if isinstance(given, str) else [str(text) for text in given]
    is_base64 = body.get("encoding_format") == "base64"
    count = sum(count_tokens(len(text)) for text in texts)
    return {
        "object": "list",
        "model": body.get("model"),
        "data": [
            {
                "object": "embedding",
                "index": index,
                "embedding": _encode(make_vector(text)) if is_base64 else make_vector(text),
            }
            for index, text in enumerate(texts)
        ],
        "usage": {"prompt_tokens": count, "total_tokens": count},
    }


def make_vector(text: str) -> list[float]:
    """A bag of words, hashed."""
    counts = [0.0] * DIMENSIONS
    for word in text.lower().split() or [""]:
        counts[crc32(word.encode()) % DIMENSIONS] += 1.0
    length = sqrt(sum(count * count for count in counts))
    return [count / length for count in counts]


def _encode(values: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
