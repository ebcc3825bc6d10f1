"""A number for a conversation."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from scoregate.enums import TestType
from scoregate.metrics.conversations import MULTI_TURN, OfConversations, check_conversation, check_scope
from scoregate.metrics.scaled import ScaledJudge
from scoregate.metrics.subject import Subject


@dataclass(frozen=True, kw_only=True)
class ConversationalJudge(ScaledJudge, OfConversations):
    """A model grades the assistant's part of a conversation by a number, and names the turns that this rests on."""

    kind: ClassVar[str] = "conversational"

    metric_scope: Collection[TestType | str] = MULTI_TURN

    def __post_init__(self) -> None:
        super().__post_init__()
        check_scope(self.name, self.metric_scope)

    def check(self, subject: Subject) -> None:
        """As `Judge.check`."""
        check_conversation(self.name, subject)
