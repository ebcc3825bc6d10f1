"""Synthesizers of single questions: by a prompt, by names, by a configuration, by a context."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Unpack

from scoregate.engine.sync import run_closing
from scoregate.entities import TestSet
from scoregate.synthesizers.base import BaseSynthesizer, OnProgress
from scoregate.synthesizers.config import GenerationConfig, one_of_two
from scoregate.synthesizers.options import Given


class PromptSynthesizer(BaseSynthesizer):
    """Tests by a description of what is wanted.

    Args:
        prompt: what tests are wanted, in your words. options: see `Options`.

    Raises:
        ValueError: the prompt is empty, or an option is out of range.
    """

    def __init__(self, prompt: str, **options: Unpack[Given]) -> None:
        super().__init__(GenerationConfig(generation_prompt=prompt), **options)


class Synthesizer(BaseSynthesizer):
    """Tests by a description, with these exact behaviors, categories and topics only.

    Args:
        prompt: what tests are wanted. behaviors, categories, topics: the names that tests may have; where there are
            none, the model finds some. requirements: another name of `behaviors`. options: see `Options`.

    Raises:
        ValueError: nothing says what is wanted, a name is empty, or an option is out of range.
    """

    def __init__(
        self,
        prompt: str,
        behaviors: Sequence[str] | None = None,
        categories: Sequence[str] | None = None,
        topics: Sequence[str] | None = None,
        *,
        requirements: Sequence[str] | None = None,
        **options: Unpack[Given],
    ) -> None:
        config = GenerationConfig(
            generation_prompt=prompt,
            behaviors=tuple(one_of_two(behaviors, requirements)),
            categories=tuple(categories or ()),
            topics=tuple(topics or ()),
        )
        super().__init__(config, **options)


class ConfigSynthesizer(BaseSynthesizer):
    """Tests by a `GenerationConfig`.

    Args:
        options: see `Options`.

    Raises:
        ValueError: an option is out of range.
    """


class ContextSynthesizer(PromptSynthesizer):
    """Tests by a description, within a context that each generation is given.

    Args:
        prompt: what tests are wanted. options: see `Options`.

    Raises:
        ValueError: the prompt is empty, or an option is out of range.
    """

    def generate(
        self,
        num_tests: int = 5,
        *,
        context: str = "",
        on_progress: OnProgress | None = None,
        progress: bool = True,
    ) -> TestSet:
        """Generate tests; as `BaseSynthesizer.generate`.

        Args:
            context: what the tests are to fit; data to the model, and no instruction.

        Raises:
            ValueError: the context is empty.
        """
        ask = partial(self.a_generate, num_tests, context=context, on_progress=on_progress, progress=progress)
        return run_closing(ask)

    async def a_generate(
        self,
        num_tests: int = 5,
        *,
        context: str = "",
        on_progress: OnProgress | None = None,
        progress: bool = True,
    ) -> TestSet:
        """As `generate`, in this event loop."""
        if not context.strip():
            raise ValueError("generate needs a context: generate(context=…)")
        config = self.config.model_copy(update={"additional_context": context})
        return await self._set_of(config, num_tests, on_progress=on_progress, progress=progress)
