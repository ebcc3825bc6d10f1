"""Test sets that a model writes, from descriptions and sources: to be reviewed rather than trusted."""

from scoregate.synthesizers.config import GenerationConfig
from scoregate.synthesizers.sources import Source
from scoregate.synthesizers.synthesizers import (
    ConfigSynthesizer,
    ContextSynthesizer,
    MultiTurnSynthesizer,
    PromptSynthesizer,
    Synthesizer,
)

__all__ = [
    "ConfigSynthesizer",
    "ContextSynthesizer",
    "GenerationConfig",
    "MultiTurnSynthesizer",
    "PromptSynthesizer",
    "Source",
    "Synthesizer",
]
