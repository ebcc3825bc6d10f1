"""A number for one output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scoregate.metrics.outputs import OfOutputs
from scoregate.metrics.scaled import ScaledJudge


@dataclass(frozen=True, kw_only=True)
class NumericJudge(ScaledJudge, OfOutputs):
    """A model grades an output, or a conversation, by a number: `NumericJudge("Is it polite?", min_score=1, …)`."""

    kind: ClassVar[str] = "numeric"
