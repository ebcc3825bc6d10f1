"""What all synthesizers do with what they were told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import ClassVar, Unpack

from scoregate.engine.progress import bar
from scoregate.engine.sync import run_closing
from scoregate.entities import TestSet
from scoregate.enums import TestType
from scoregate.models import get_model
from scoregate.synthesizers.brief import Brief
from scoregate.synthesizers.chunks import chunks_of
from scoregate.synthesizers.config import GenerationConfig
from scoregate.synthesizers.drafting import Advance, drafted
from scoregate.synthesizers.finishing import finished
from scoregate.synthesizers.options import Given, Options, whole
from scoregate.synthesizers.sources import source_of

# Is called with how many tests there are, and how many are wanted.
OnProgress = Callable[[int, int], object]


class BaseSynthesizer:
    """Has a model write tests by a configuration; what it writes is to be reviewed before it is relied upon."""

    kind: ClassVar[TestType] = TestType.SINGLE_TURN
    default_batch_size: ClassVar[int] = 20

    def __init__(self, config: GenerationConfig, **options: Unpack[Given]) -> None:
        self.config = config
        options.setdefault("batch_size", self.default_batch_size)
        self.options = Options(**options)

    def generate(self, num_tests: int = 5, *, on_progress: OnProgress | None = None, progress: bool = True) -> TestSet:
        """Generate tests, and name the set that they make.

        Args:
            num_tests: how many, at least 1. Fewer come with a warning, and with `problems` in the set's metadata.
            on_progress: is called with how many there are and how many are wanted, after each batch.
            progress: whether a terminal is shown a bar.

        Raises:
            SynthesisError: not one test came; it is a ValueError and says why. SourceError: a source cannot be read.
            ModelError: the model's name names nothing. ValueError, TypeError: `num_tests` is no such number.
        """
        return run_closing(partial(self.a_generate, num_tests, on_progress=on_progress, progress=progress))

    async def a_generate(
        self, num_tests: int = 5, *, on_progress: OnProgress | None = None, progress: bool = True
    ) -> TestSet:
        """As `generate`, in this event loop."""
        return await self._set_of(self.config, num_tests, on_progress=on_progress, progress=progress)

    async def _set_of(
        self, config: GenerationConfig, num_tests: int, *, on_progress: OnProgress | None, progress: bool
    ) -> TestSet:
        whole(num_tests, "num_tests", least=1)
        brief, options = Brief(type(self).__name__, self.kind, config), self.options
        chunks = chunks_of(map(source_of, options.sources), options.chunk_size)
        model = get_model(options.model)
        with _advancing(brief.maker, num_tests, on_progress=on_progress, shown=progress) as advance:
            draft = await drafted(model, brief, options, wanted=num_tests, chunks=chunks, advance=advance)
        return await finished(model, brief, options, draft=draft, chunks=chunks)


@contextmanager
def _advancing(name: str, total: int, *, on_progress: OnProgress | None, shown: bool) -> Iterator[Advance]:
    """What is told how many tests have come; it never goes back, though duplicates are dropped later."""
    reached = 0
    with bar(name, total, shown=shown) as one_more:

        def advance(count: int) -> None:
            nonlocal reached
            for _ in range(reached, min(count, total)):
                one_more()
            reached = max(reached, min(count, total))
            if on_progress is not None:
                on_progress(reached, total)

        yield advance
