"""The options of every synthesizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from scoregate.synthesizers.sources import GivenSource

if TYPE_CHECKING:
    from scoregate.models import Model


class OptionArguments(TypedDict, total=False):
    """The keyword arguments of every synthesizer; see `Options`."""

    batch_size: int
    model: Model | str | None
    sources: Sequence[GivenSource]
    chunk_size: int
    max_concurrency: int
    retries: int
    similarity: float


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a generation.

    Args:
        batch_size: tests per request, at least 1.
        model: "provider/name" or a `Model`; None is the project's.
        sources: files (.txt, .md, .csv, .json, .jsonl) or `Source(name, text)` that the tests are based on.
        chunk_size: characters of a source per request, at least 100.
        max_concurrency: parallel requests, at least 1.
        retries: further rounds for missing tests, at least 0.
        similarity: tests whose texts are at least this similar are duplicates; from above 0 to 1.

    Raises:
        ValueError: a number is out of range.
        TypeError: an option has another type.
    """

    batch_size: int = 20
    model: Model | str | None = None
    sources: Sequence[GivenSource] = ()
    chunk_size: int = 1500
    max_concurrency: int = 5
    retries: int = 3
    similarity: float = 0.9

    def __post_init__(self) -> None:
        for name, least in (("batch_size", 1), ("chunk_size", 100), ("max_concurrency", 1), ("retries", 0)):
            check_whole_number(getattr(self, name), name, least=least)
        if not 0 < self.similarity <= 1:
            raise ValueError(f"similarity must be above 0 and at most 1, not {self.similarity}")
        if isinstance(self.sources, str):
            raise TypeError(f"sources must be a list, not the text {self.sources!r:.60}")


def check_whole_number(value: int, name: str, *, least: int) -> None:
    """Check an integer option.

    Raises:
        TypeError: it is no integer.
        ValueError: it is below `least`.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, not {value!r:.60}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")
