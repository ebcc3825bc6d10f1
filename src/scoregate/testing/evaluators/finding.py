"""What evaluators find on a test case by its usual name, where nobody maps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def found(test_case: Any, name: str) -> str | None:
    """The string in a field or key of that name; None where there is none."""
    value = test_case.get(name) if isinstance(test_case, Mapping) else getattr(test_case, name, None)
    return value if isinstance(value, str) else None
