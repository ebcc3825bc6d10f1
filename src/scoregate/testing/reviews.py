"""What people are asked of outputs, and what a judge may answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class HumanReviewFieldContentType(StrEnum):
    """How a reviewer sees a field."""

    TEXT = "text"
    LINK = "link"
    MARKDOWN = "markdown"
    HTML = "html"


@dataclass(frozen=True)
class HumanReviewField:
    """One field of a test case or output, as a reviewer sees it."""

    name: str
    value: str
    content_type: HumanReviewFieldContentType = HumanReviewFieldContentType.TEXT


@dataclass(frozen=True)
class CreateHumanReviewJob:
    """Ask people to review a run's outputs.

    Raises:
        TypeError: the name or an address is no string.
    """

    assignee_email_address: str | Sequence[str]
    name: str
    rubric_id: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not all(isinstance(address, str) for address in self.assignees):
            raise TypeError(f"a name and e-mail addresses must be strings, not {self.name!r}, {self.assignees!r}")

    @property
    def assignees(self) -> tuple[str, ...]:
        """The addresses, one or many."""
        given = self.assignee_email_address
        return (given,) if isinstance(given, str) else tuple(given)


@dataclass(frozen=True)
class ScoreChoice:
    """An answer that a judge may choose, and the score in [0, 1] that it stands for."""

    value: float
    name: str
