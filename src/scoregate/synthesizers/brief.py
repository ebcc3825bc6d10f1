"""What one generation asks a model for, whoever wants it."""

from __future__ import annotations

from dataclasses import dataclass

from scoregate.enums import TestType
from scoregate.synthesizers.config import GenerationConfig


@dataclass(frozen=True, slots=True)
class Brief:
    """`maker` is the name of the synthesizer; `kind` is the type of all tests, whatever the model says."""

    maker: str
    kind: TestType
    config: GenerationConfig

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """The behaviors, categories and topics that tests may have; none where the model finds them."""
        return self.config.behaviors, self.config.categories, self.config.topics
