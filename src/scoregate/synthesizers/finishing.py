"""From tests to a test set that says how it was made, and what is missing in it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from scoregate.entities import TestSet
from scoregate.entities.properties import About, plain_properties
from scoregate.enums import TestType
from scoregate.errors import ScoregateError, SynthesisError
from scoregate.synthesizers.brief import Brief
from scoregate.synthesizers.chunks import Chunk
from scoregate.synthesizers.drafting import Draft
from scoregate.synthesizers.options import Options

if TYPE_CHECKING:
    from scoregate.models import Model

_MOST_PROBLEMS, _LONGEST_PROBLEM = 5, 300
_SUFFIX = " (Multi-Turn)"
_NO_TEST = "no answer held a test with all that a test needs"


async def finished(model: Model, brief: Brief, options: Options, *, draft: Draft, chunks: Sequence[Chunk]) -> TestSet:
    """The set, named by the model; a warning tells of tests that are missing.

    Raises:
        SynthesisError: there are no tests.
    """
    if not draft.tests:
        raise _nothing(draft)
    metadata = _metadata(model, brief, options, draft=draft) | _coverage(draft, chunks)
    test_set = TestSet(tests=draft.tests, test_set_type=brief.kind, metadata=metadata)
    if draft.missing:
        warnings.warn(_shortage(draft), UserWarning, stacklevel=2)
    await anyio.to_thread.run_sync(_name, test_set, model)
    if brief.kind is TestType.MULTI_TURN:
        test_set.name = f"{test_set.name}{_SUFFIX}"
    return test_set


def _name(test_set: TestSet, model: Model) -> None:
    """Tests that were paid for are not lost to a name that cannot be had."""
    try:
        test_set.set_properties(model)
    except Exception as error:  # also whatever a model of the user's own raises
        warnings.warn(f"the test set is named after its topics: {error!s:.300}", UserWarning, stacklevel=2)
        plain = plain_properties(About(test_set.categories, test_set.topics, test_set.behaviors))
        test_set.name, test_set.description = plain.name, plain.description
        test_set.short_description = plain.short_description


def _nothing(draft: Draft) -> SynthesisError:
    last = draft.errors[-1] if draft.errors else None
    told = last.message if isinstance(last, ScoregateError) else repr(last)
    made = SynthesisError(
        f"Failed to generate any valid test cases: {_NO_TEST if last is None else told}",
        advice=last.advice if isinstance(last, ScoregateError) else "",
    )
    made.__cause__ = last
    return made


def _shortage(draft: Draft) -> str:
    told = f"{len(draft.tests)} of {draft.wanted} tests were generated"
    dropped = f"; {draft.distinct.dropped} said what another one does" if draft.distinct.dropped else ""
    return f"{told}{dropped}" + (f"; {_problems(draft)[-1]}" if draft.errors else "")


def _problems(draft: Draft) -> list[str]:
    return [f"{type(error).__name__}: {error!s:.{_LONGEST_PROBLEM}}" for error in draft.errors[-_MOST_PROBLEMS:]]


def _metadata(model: Model, brief: Brief, options: Options, *, draft: Draft) -> dict[str, Any]:
    made: dict[str, Any] = {
        "synthesizer": brief.maker,
        "model": model.name,
        "batch_size": options.batch_size,
        "num_tests": len(draft.tests),
        "requested_tests": draft.wanted,
        "batches": draft.batches,
        "duplicates_dropped": draft.distinct.dropped,
        "duplicates_by": draft.distinct.measure,
    }
    return made | ({"problems": _problems(draft)} if draft.errors else {})


def _coverage(draft: Draft, chunks: Sequence[Chunk]) -> dict[str, Any]:
    """Which parts of the sources the tests were drawn from."""
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
