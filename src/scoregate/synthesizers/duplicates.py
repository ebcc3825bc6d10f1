"""Tests that say the same: exactly, or nearly where rapidfuzz is installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from unicodedata import normalize

from scoregate.entities import Test

_WORDS = re.compile(r"\w+")
_NUMBERS = re.compile(r"\d+")
Alike = Callable[[str, Sequence[str], float], bool]


class Distinct:
    """Tests, none of which says what another one does.

    Case, space and punctuation make no difference. Texts of which so much is the same (rapidfuzz's ratio, from 0 to 1)
    are one, unless they differ in a number: thirty days and thirty-one are two tests where they are written in digits.

    Args:
        similarity: 1 leaves it at texts that are the same.
    """

    def __init__(self, similarity: float) -> None:
        self._similarity = similarity
        self._alike = None if similarity >= 1 else _rapidfuzz()
        self._seen: set[str] = set()
        self._by_numbers: dict[tuple[str, ...], list[str]] = {}
        self.tests: list[Test] = []
        self.dropped = 0

    @property
    def measure(self) -> str:
        """How tests were told apart."""
        return "exact" if self._alike is None else f"rapidfuzz ratio {self._similarity:g}"

    def add(self, test: Test) -> bool:
        """Take it in, unless there is one like it; whether it was."""
        text = plain_words(said(test))
        numbers = self._by_numbers.setdefault(tuple(_NUMBERS.findall(text)), [])
        if text in self._seen or (self._alike is not None and self._alike(text, numbers, self._similarity)):
            self.dropped += 1
            return False
        self._seen.add(text)
        numbers.append(text)
        self.tests.append(test)
        return True


def said(test: Test) -> str:
    """What makes a test the one it is: its question, or its goal in its scenario."""
    if test.prompt is not None:
        return test.prompt.content
    talk = test.test_configuration
    return "" if talk is None else f"{talk.goal}\n{talk.scenario}"


def plain_words(text: str) -> str:
    """Its words in small letters; a text without any as it is."""
    folded = normalize("NFKC", text).casefold()
    return " ".join(_WORDS.findall(folded)) or " ".join(folded.split())


def _rapidfuzz() -> Alike | None:
    try:
        from rapidfuzz import fuzz, process
    except ImportError:
        return None

    def alike(text: str, others: Sequence[str], similarity: float) -> bool:
        return process.extractOne(text, others, scorer=fuzz.ratio, score_cutoff=100 * similarity) is not None

    return alike
