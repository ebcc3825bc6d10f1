"""Generation in rounds: request batches, drop duplicates, request what is missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from unicodedata import normalize

from scoregate.entities import Test
from scoregate.synthesizers.ask_model import (
    FINAL_ERRORS,
    BatchResult,
    Shortfall,
    ask_batches,
    first_batches,
    retry_batches,
)
from scoregate.synthesizers.config import Brief
from scoregate.synthesizers.options import Options
from scoregate.synthesizers.sources import Chunk

if TYPE_CHECKING:
    from scoregate.models import Model

_WORDS = re.compile(r"\w+")
_NUMBERS = re.compile(r"\d+")
SimilarityCheck = Callable[[str, Sequence[str], float], bool]


class DistinctTests:
    """Tests without duplicates.

    Case, space and punctuation make no difference. Texts with a rapidfuzz ratio of at least `similarity` are
    duplicates, unless their digits differ: "30 days" and "31 days" are two tests.

    Args:
        similarity: from above 0 to 1; 1 drops only equal texts.
    """

    def __init__(self, similarity: float) -> None:
        self._similarity = similarity
        self._alike = None if similarity >= 1 else _load_rapidfuzz()
        self._seen: set[str] = set()
        self._by_numbers: dict[tuple[str, ...], list[str]] = {}
        self.tests: list[Test] = []
        self.dropped = 0

    @property
    def measure(self) -> str:
        """How duplicates are detected."""
        return "exact" if self._alike is None else f"rapidfuzz ratio {self._similarity:g}"

    def add(self, test: Test) -> bool:
        """Add a test unless it is a duplicate; return whether it was added."""
        text = normalize_text(test_text(test))
        numbers = self._by_numbers.setdefault(tuple(_NUMBERS.findall(text)), [])
        if text in self._seen or (self._alike is not None and self._alike(text, numbers, self._similarity)):
            self.dropped += 1
            return False
        self._seen.add(text)
        numbers.append(text)
        self.tests.append(test)
        return True


def test_text(test: Test) -> str:
    """The text that identifies a test: its prompt, or its goal and scenario."""
    if test.prompt is not None:
        return test.prompt.content
    talk = test.test_configuration
    return "" if talk is None else f"{talk.goal}\n{talk.scenario}"


def normalize_text(text: str) -> str:
    """The words of a text in lower case; the text itself if it has no words."""
    folded = normalize("NFKC", text).casefold()
    return " ".join(_WORDS.findall(folded)) or " ".join(folded.split())


def _load_rapidfuzz() -> SimilarityCheck | None:
    try:
        from rapidfuzz import fuzz, process
    except ImportError:
        return None

    def alike(text: str, others: Sequence[str], similarity: float) -> bool:
        return process.extractOne(text, others, scorer=fuzz.ratio, score_cutoff=100 * similarity) is not None

    return alike


# How many existing tests a later prompt lists, and how much of each.
_MOST_KNOWN, _LONGEST_KNOWN = 50, 200
# Called with the number of generated tests.
OnCount = Callable[[int], object]


@dataclass(slots=True)
class Draft:
    """The tests so far, and the errors of failed batches."""

    wanted: int
    distinct: DistinctTests
    errors: list[Exception] = field(default_factory=list)
    batches: int = 0

    @property
    def tests(self) -> list[Test]:
        """In the order of their batches."""
        return self.distinct.tests

    @property
    def missing(self) -> int:
        """How many tests are missing."""
        return self.wanted - len(self.tests)

    @property
    def is_over(self) -> bool:
        """Whether all tests exist, or a final error occurred."""
        return self.missing == 0 or any(isinstance(error, FINAL_ERRORS) for error in self.errors)

    @property
    def known(self) -> list[str]:
        """The beginnings of the newest tests, for a later prompt."""
        return [" ".join(test_text(test).split())[:_LONGEST_KNOWN] for test in self.tests[-_MOST_KNOWN:]]

    def take(self, outcome: BatchResult) -> Shortfall:
        """Add the result of a batch and return what is missing."""
        added = sum(map(self.distinct.add, outcome.tests))
        self.batches += 1
        if outcome.error is not None:
            self.errors.append(outcome.error)
        return Shortfall(outcome.batch, outcome.batch.size - added, outcome.error is not None)


async def generate_tests(
    model: Model, brief: Brief, options: Options, *, wanted: int, chunks: Sequence[Chunk], advance: OnCount
) -> Draft:
    """Generate tests in at most `1 + options.retries` rounds.

    Answers are added in the order of the batches, so that equal answers always give equal tests.
    """
    draft, count = Draft(wanted, DistinctTests(options.similarity)), 0

    def report_progress(outcome: BatchResult) -> None:
        nonlocal count
        count += len(outcome.tests)
        advance(count)

    batches = first_batches(wanted, options.batch_size, chunks)
    for _ in range(1 + options.retries):
        count = len(draft.tests)  # without the duplicates of the last round
        outcomes = await ask_batches(model, brief, batches, at_once=options.max_concurrency, on_result=report_progress)
        gaps = [draft.take(outcome) for outcome in outcomes]
        if draft.is_over:
            break
        batches = retry_batches(gaps, options.batch_size, after=batches[-1].number, known=draft.known)
    return draft
