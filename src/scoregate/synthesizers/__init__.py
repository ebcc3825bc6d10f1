"""Test sets that a model writes, from descriptions and sources: to be reviewed rather than trusted."""

from scoregate.synthesizers.config import GenerationConfig
from scoregate.synthesizers.multi_turn import MultiTurnSynthesizer
from scoregate.synthesizers.single_turn import ConfigSynthesizer, ContextSynthesizer, PromptSynthesizer, Synthesizer
from scoregate.synthesizers.sources import Source

__all__ = [
    "ConfigSynthesizer",
    "ContextSynthesizer",
    "GenerationConfig",
    "MultiTurnSynthesizer",
    "PromptSynthesizer",
    "Source",
    "Synthesizer",
]
