"""An evaluation that waits for a person."""

from __future__ import annotations

from typing import NamedTuple


class Pending(NamedTuple):
    """What an evaluator returns where people are to judge: reported, and neither passed nor failed.

    `rubric` is what they are to judge by.
    """

    rubric: str | None = None
