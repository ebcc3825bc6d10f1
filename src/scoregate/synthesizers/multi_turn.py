"""The synthesizer of conversations."""

from __future__ import annotations

from typing import ClassVar

from scoregate.enums import TestType
from scoregate.synthesizers.base import BaseSynthesizer


class MultiTurnSynthesizer(BaseSynthesizer):
    """Conversations by a `GenerationConfig`: goals, with instructions, scenarios, restrictions, and 1 to 50 turns.

    Args:
        options: see `Options`; the default of `batch_size` is 10.

    Raises:
        ValueError: an option is out of range.
    """

    kind: ClassVar[TestType] = TestType.MULTI_TURN
    default_batch_size: ClassVar[int] = 10
