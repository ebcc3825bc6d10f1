"""What a test says to what is under test, and what is expected to come back."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from scoregate.entities.base import Part


def _given(text: str | None) -> str | None:
    return text or None


class Prompt(Part):
    """A question; `language_code` is of both texts. An empty `expected_response` is none."""

    content: str
    expected_response: Annotated[str | None, AfterValidator(_given)] = None
    language_code: str = Field(default="en", min_length=1)
    id: str | None = None
