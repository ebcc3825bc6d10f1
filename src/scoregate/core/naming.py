"""How a case is called where people read of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

LONGEST_NAME = 80
_DIGEST = re.compile(r"[0-9a-f-]{16,}", re.IGNORECASE)


def case_name(case_hash: str, body: Any) -> str:
    """The hash, or in the place of a digest the first text in the case; empty where there is none."""
    if not _DIGEST.fullmatch(case_hash):
        return case_hash[:LONGEST_NAME]
    texts = (item for item in body.values() if isinstance(item, str)) if isinstance(body, Mapping) else iter(())
    return " ".join(next(texts, "")[: 4 * LONGEST_NAME].split())[:LONGEST_NAME]
