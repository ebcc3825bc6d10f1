"""The base class of synthesizers: generate tests, name the set, report what is missing."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import anyio.to_thread

from scoregate.engine.sync import run_sync_and_close
from scoregate.engine.terminal import show_progress
from scoregate.entities import TestSet
from scoregate.entities.test_set_properties import LabelNames, default_properties
from scoregate.enums import TestType
from scoregate.errors import ScoregateError, SynthesisError
from scoregate.models import get_model
from scoregate.synthesizers.config import Brief, GenerationConfig
from scoregate.synthesizers.generate import Draft, OnCount, generate_tests
from scoregate.synthesizers.options import OptionArguments, Options, check_whole_number
from scoregate.synthesizers.sources import Chunk, read_source, split_sources

if TYPE_CHECKING:
    from scoregate.models import Model


_MOST_PROBLEMS, _LONGEST_PROBLEM = 5, 300
_SUFFIX = " (Multi-Turn)"
_NO_TEST = "no answer held a test with all that a test needs"


async def finish_test_set(
    model: Model, brief: Brief, options: Options, *, draft: Draft, chunks: Sequence[Chunk]
) -> TestSet:
    """The test set, named by the model. Missing tests are a warning.

    Raises:
        SynthesisError: there are no tests.
    """
    if not draft.tests:
        raise _no_tests_error(draft)
    dropped = draft.distinct.dropped
    problems = [f"{type(error).__name__}: {error!s:.{_LONGEST_PROBLEM}}" for error in draft.errors[-_MOST_PROBLEMS:]]
    metadata: dict[str, Any] = {
        "synthesizer": brief.maker,
        "model": model.name,
        "batch_size": options.batch_size,
        "num_tests": len(draft.tests),
        "requested_tests": draft.wanted,
        "batches": draft.batches,
        "duplicates_dropped": dropped,
        "duplicates_by": draft.distinct.measure,
        **({"problems": problems} if problems else {}),
        **_source_coverage(draft, chunks),
    }
    test_set = TestSet(tests=draft.tests, test_set_type=brief.kind, metadata=metadata)
    if draft.missing:
        message = f"{len(draft.tests)} of {draft.wanted} tests were generated"
        reasons = [*([f"{dropped} said what another one does"] if dropped else []), *problems[-1:]]
        warnings.warn("; ".join([message, *reasons]), UserWarning, stacklevel=2)
    await anyio.to_thread.run_sync(_set_properties, test_set, model)  # `set_properties` blocks until the model answers
    if brief.kind is TestType.MULTI_TURN:
        test_set.name = f"{test_set.name}{_SUFFIX}"
    return test_set


def _set_properties(test_set: TestSet, model: Model) -> None:
    """Name the set after its topics if the model cannot name it: the tests are paid for."""
    try:
        test_set.set_properties(model)
    except Exception as error:  # a custom model may raise anything
        warnings.warn(f"the test set is named after its topics: {error!s:.300}", UserWarning, stacklevel=2)
        plain = default_properties(LabelNames(test_set.categories, test_set.topics, test_set.behaviors))
        test_set.name, test_set.description = plain.name, plain.description
        test_set.short_description = plain.short_description


def _no_tests_error(draft: Draft) -> SynthesisError:
    last = draft.errors[-1] if draft.errors else None
    message = last.message if isinstance(last, ScoregateError) else repr(last)
    error = SynthesisError(
        f"Failed to generate any valid test cases: {_NO_TEST if last is None else message}",
        advice=last.advice if isinstance(last, ScoregateError) else "",
    )
    error.__cause__ = last
    return error


def _source_coverage(draft: Draft, chunks: Sequence[Chunk]) -> dict[str, Any]:
    """How much of the sources the tests cover."""
    if not chunks:
        return {}
    drawn = [(each["source"], each["chunk"]) for test in draft.tests for each in test.metadata["sources"]]
    used = len(set(drawn))
    return {
        "documents_used": list(dict.fromkeys(source for source, _ in drawn)),
        "contexts_total": len(chunks),
        "contexts_used": used,
        "coverage_percent": round(100 * used / len(chunks), 1),
        "tests_per_context": round(len(drawn) / used, 2),
    }


# Called with the number of generated tests and the number of requested tests.
OnProgress = Callable[[int, int], object]


class BaseSynthesizer:
    """Generates tests with a model from a configuration. Review the tests before you rely on them."""

    kind: ClassVar[TestType] = TestType.SINGLE_TURN
    default_batch_size: ClassVar[int] = 20

    def __init__(self, config: GenerationConfig, **options: Unpack[OptionArguments]) -> None:
        self.config = config
        options.setdefault("batch_size", self.default_batch_size)
        self.options = Options(**options)

    def generate(self, num_tests: int = 5, *, on_progress: OnProgress | None = None, progress: bool = True) -> TestSet:
        """Generate tests and name their set.

        Args:
            num_tests: how many tests, at least 1. If tests are missing, there is a warning, and `problems` in the
                metadata of the set.
            on_progress: called after each batch with the number of generated and of requested tests.
            progress: whether to show a progress bar in a terminal.

        Raises:
            SynthesisError: no test was generated; also a ValueError.
            SourceError: a source cannot be read.
            ModelError: there is no model of this name.
            ValueError: `num_tests` is below 1.
            TypeError: `num_tests` is no integer.
        """
        return run_sync_and_close(partial(self.a_generate, num_tests, on_progress=on_progress, progress=progress))

    async def a_generate(
        self, num_tests: int = 5, *, on_progress: OnProgress | None = None, progress: bool = True
    ) -> TestSet:
        """Asynchronous version of `generate`."""
        return await self._set_of(self.config, num_tests, on_progress=on_progress, progress=progress)

    async def _set_of(
        self, config: GenerationConfig, num_tests: int, *, on_progress: OnProgress | None, progress: bool
    ) -> TestSet:
        check_whole_number(num_tests, "num_tests", least=1)
        brief, options = Brief(type(self).__name__, self.kind, config), self.options
        chunks = split_sources(map(read_source, options.sources), options.chunk_size)
        model = get_model(options.model)
        with _report_progress(brief.maker, num_tests, on_progress=on_progress, shown=progress) as advance:
            draft = await generate_tests(model, brief, options, wanted=num_tests, chunks=chunks, advance=advance)
        return await finish_test_set(model, brief, options, draft=draft, chunks=chunks)


@contextmanager
def _report_progress(name: str, total: int, *, on_progress: OnProgress | None, shown: bool) -> Iterator[OnCount]:
    """A function that reports progress. The number never falls, even if duplicates are dropped later."""
    reached = 0
    with show_progress(name, total, shown=shown) as one_more:

        def advance(count: int) -> None:
            nonlocal reached
            for _ in range(reached, min(count, total)):
                one_more()
            reached = max(reached, min(count, total))
            if on_progress is not None:
                on_progress(reached, total)

        yield advance
