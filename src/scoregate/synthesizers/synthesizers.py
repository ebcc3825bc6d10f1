"""The synthesizers: from a prompt, from labels, from a configuration, with a context, and of conversations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Unpack

from scoregate.engine.sync import run_sync_and_close
from scoregate.entities import TestSet
from scoregate.enums import TestType
from scoregate.synthesizers.base import BaseSynthesizer, OnProgress
from scoregate.synthesizers.config import GenerationConfig, merge_requirements
from scoregate.synthesizers.options import OptionArguments


class PromptSynthesizer(BaseSynthesizer):
    """Generates tests from a description.

    Args:
        prompt: the description of the tests.
        options: see `Options`.

    Raises:
        ValueError: the prompt is empty, or an option is out of range.
    """

    def __init__(self, prompt: str, **options: Unpack[OptionArguments]) -> None:
        super().__init__(GenerationConfig(generation_prompt=prompt), **options)


class Synthesizer(BaseSynthesizer):
    """Generates tests from a description, with the given labels only.

    Args:
        prompt: the description of the tests.
        behaviors: the allowed behaviors; if empty, the model chooses them.
        categories: the allowed categories; if empty, the model chooses them.
        topics: the allowed topics; if empty, the model chooses them.
        requirements: another name of `behaviors`.
        options: see `Options`.

    Raises:
        ValueError: the description is empty without labels, a label is empty, or an option is out of range.
    """

    def __init__(
        self,
        prompt: str,
        behaviors: Sequence[str] | None = None,
        categories: Sequence[str] | None = None,
        topics: Sequence[str] | None = None,
        *,
        requirements: Sequence[str] | None = None,
        **options: Unpack[OptionArguments],
    ) -> None:
        config = GenerationConfig(
            generation_prompt=prompt,
            behaviors=tuple(merge_requirements(behaviors, requirements)),
            categories=tuple(categories or ()),
            topics=tuple(topics or ()),
        )
        super().__init__(config, **options)


class ConfigSynthesizer(BaseSynthesizer):
    """Generates tests from a `GenerationConfig`.

    Args:
        options: see `Options`.

    Raises:
        ValueError: an option is out of range.
    """


class ContextSynthesizer(PromptSynthesizer):
    """Generates tests from a description and a context.

    Args:
        prompt: the description of the tests.
        options: see `Options`.

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
            num_tests: how many tests, at least 1.
            context: data for the model that the tests should fit; it is no instruction.
            on_progress: see `BaseSynthesizer.generate`.
            progress: see `BaseSynthesizer.generate`.

        Raises:
            ValueError: the context is empty.
        """
        ask = partial(self.a_generate, num_tests, context=context, on_progress=on_progress, progress=progress)
        return run_sync_and_close(ask)

    async def a_generate(
        self,
        num_tests: int = 5,
        *,
        context: str = "",
        on_progress: OnProgress | None = None,
        progress: bool = True,
    ) -> TestSet:
        """Asynchronous version of `generate`."""
        if not context.strip():
            raise ValueError("generate needs a context: generate(context=…)")
        config = self.config.model_copy(update={"additional_context": context})
        return await self._set_of(config, num_tests, on_progress=on_progress, progress=progress)


class MultiTurnSynthesizer(BaseSynthesizer):
    """Generates conversations of 1 to 50 turns from a `GenerationConfig`.

    Args:
        config: the configuration.
        options: see `Options`; the default of `batch_size` is 10.

    Raises:
        ValueError: an option is out of range.
    """

    kind: ClassVar[TestType] = TestType.MULTI_TURN
    default_batch_size: ClassVar[int] = 10
