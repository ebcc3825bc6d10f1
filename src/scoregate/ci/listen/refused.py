"""A call that cannot be taken: what is answered, and what the report says of it."""

from __future__ import annotations


class Refused(Exception):
    """What is wrong with a call.

    Args:
        why: what the client reads and the report shows. status: of the answer, from 400 to 499.
    """

    def __init__(self, why: str, *, status: int = 400) -> None:
        super().__init__(why)
        self.why = why
        self.status = status
