"""From a brief to tests: batches, then what they left out, until all are there or no more come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scoregate.entities import Test
from scoregate.synthesizers.asking import FINAL, Outcome, ask_all
from scoregate.synthesizers.batches import Batch, Gap, batches_again, first_batches
from scoregate.synthesizers.brief import Brief
from scoregate.synthesizers.chunks import Chunk
from scoregate.synthesizers.duplicates import Distinct, said
from scoregate.synthesizers.options import Options

if TYPE_CHECKING:
    from scoregate.models import Model

# What a later question tells of the tests that there are: the newest, each from its beginning.
_MOST_KNOWN, _LONGEST_KNOWN = 50, 200
# Is told how many tests have come.
Advance = Callable[[int], object]


@dataclass(slots=True)
class Draft:
    """Tests as they gather; `errors` are those of batches that gave no answer."""

    wanted: int
    distinct: Distinct
    errors: list[Exception] = field(default_factory=list)
    batches: int = 0

    @property
    def tests(self) -> list[Test]:
        """In the order of their batches."""
        return self.distinct.tests

    @property
    def missing(self) -> int:
        """How many are still to come."""
        return self.wanted - len(self.tests)

    @property
    def is_over(self) -> bool:
        """Whether all are there, or nothing more can come."""
        return self.missing == 0 or any(isinstance(error, FINAL) for error in self.errors)

    @property
    def known(self) -> list[str]:
        """What a later question tells of them."""
        return [" ".join(said(test).split())[:_LONGEST_KNOWN] for test in self.tests[-_MOST_KNOWN:]]

    def take(self, outcome: Outcome) -> Gap:
        """Take in what came of a batch; what did not."""
        taken = sum(map(self.distinct.add, outcome.tests))
        self.batches += 1
        if outcome.error is not None:
            self.errors.append(outcome.error)
        return Gap(outcome.batch, outcome.batch.size - taken, outcome.error is not None)


async def drafted(
    model: Model, brief: Brief, options: Options, *, wanted: int, chunks: Sequence[Chunk], advance: Advance
) -> Draft:
    """As many tests as are wanted, if the model gives them in as many rounds as it gets.

    Answers are taken in by the order of the batches, so that the same answers always make the same tests.
    """
    draft = Draft(wanted, Distinct(options.similarity))
    batches = first_batches(wanted, options.batch_size, chunks)
    for _ in range(1 + options.retries):
        outcomes = await _round(model, brief, options, batches=batches, begun=len(draft.tests), advance=advance)
        gaps = [draft.take(outcome) for outcome in outcomes]
        if draft.is_over:
            break
        batches = batches_again(gaps, options.batch_size, after=batches[-1].number, known=draft.known)
    return draft


async def _round(
    model: Model, brief: Brief, options: Options, *, batches: Sequence[Batch], begun: int, advance: Advance
) -> list[Outcome]:
    come = begun

    def tell(outcome: Outcome) -> None:
        nonlocal come
        come += len(outcome.tests)
        advance(come)

    return await ask_all(model, brief, batches, at_once=options.max_concurrency, tell=tell)
