"""Asking a model for batches of tests, some at a time; what goes wrong is told beside what came."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import anyio

from scoregate.entities import Test
from scoregate.errors import (
    BudgetSpent,
    MissingExtra,
    MissingKey,
    ModelGone,
    RateLimited,
    RefusedSchema,
    SettingsError,
)
from scoregate.synthesizers.answers import schema_of, valid_tests
from scoregate.synthesizers.batches import Batch
from scoregate.synthesizers.brief import Brief
from scoregate.synthesizers.questions import question

if TYPE_CHECKING:
    from scoregate.models import Model

# After these no other question to the model has a point.
FINAL = (BudgetSpent, MissingExtra, MissingKey, ModelGone, RateLimited, RefusedSchema, SettingsError)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a batch: tests, no more than it was asked for, or what went wrong."""

    batch: Batch
    tests: tuple[Test, ...] = ()
    error: Exception | None = None


async def ask_all(
    model: Model, brief: Brief, batches: Sequence[Batch], *, at_once: int, tell: Callable[[Outcome], object]
) -> list[Outcome]:
    """The outcomes in the order of the batches, however they came; once nothing more can come, none is asked for.

    Args:
        tell: is called with each as it comes.
    """
    found: dict[int, Outcome] = {}
    limiter = anyio.CapacityLimiter(at_once)

    async def ask(batch: Batch) -> None:
        async with limiter:
            if any(isinstance(each.error, FINAL) for each in found.values()):
                return
            found[batch.number] = outcome = await _outcome(model, brief, batch)
            tell(outcome)

    async with anyio.create_task_group() as group:
        for batch in batches:
            group.start_soon(ask, batch)
    return [found[batch.number] for batch in batches if batch.number in found]


async def _outcome(model: Model, brief: Brief, batch: Batch) -> Outcome:
    try:
        answer = await model.a_generate(question(brief, batch), schema=schema_of(brief))
        return Outcome(batch, tuple(islice(valid_tests(answer.parsed, brief, batch), batch.size)))
    except Exception as error:  # whatever a model of the user's own raises: other batches go on
        return Outcome(batch, error=error)
