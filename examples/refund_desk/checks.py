"""What answers of the refund desk are judged by, without a model."""

from __future__ import annotations

from typing import Any

from scoregate.metrics import metric


@metric("mentions", "binary", "The answer says what is expected of it")
def mentions(input: str, output: str, expected_output: str) -> dict[str, Any]:  # noqa: A002, ARG001
    """Whether the words that are expected are in the answer."""
    found = expected_output.lower() in output.lower()
    return {"score": found, "reason": f"{'says' if found else 'does not say'} {expected_output!r}"}
