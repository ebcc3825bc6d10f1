"""Near duplicates among inputs: texts with the same numbers and negations that differ in little else."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from unicodedata import normalize
from zlib import crc32

SIMILARITY = 0.9
_WORDS, _NUMBERS = re.compile(r"\w+"), re.compile(r"\d+")
# Longer texts are compared by their beginnings: the time of a comparison grows with the product of the lengths.
_LONGEST_COMPARED = 1_000
_SHINGLE = 4
# English. An apostrophe is a space here: "don t".
_NEGATIONS = re.compile(
    r"\b(?:not|no|non|none|never|neither|nor|nothing|without|cannot"
    r"|(?:do|does|did|is|are|was|were|ca|wo|could|should|would|has|have|had|must|need|ai)n ?t)\b"
)
_NEGATING_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non")
# A signature of 32 hashes in 16 bands: of texts that share 60 % of their pieces, 99.9 % share a band.
_BINS, _BAND = 32, 2
# The texts that share most with a new one. Without a limit, 10,000 texts from one template would need 50 million
# comparisons.
_MOST_COMPARED = 50
_MOST_SHARED = 600
_Find = Callable[[str, Sequence[str]], int | None]


class DuplicateFinder:
    """Finds the earlier text that a text repeats.

    Case, space and punctuation make no difference. Texts whose numbers differ are never duplicates: "30 days" and
    "31 days" are two cases. So are texts of which one has more negations ("not", "don't"), or a word of the other with
    a negating prefix ("possible" and "impossible"). The result depends on nothing but the texts and their order.

    Args:
        similarity: the least rapidfuzz ratio of duplicates, from above 0 to 1; 1 merges equal texts only.
    """

    def __init__(self, similarity: float = SIMILARITY) -> None:
        self._find = None if similarity >= 1 else _load_rapidfuzz(similarity)
        self._texts: list[str] = []
        self._places: dict[str, int] = {}
        self._blocks: defaultdict[int, list[int]] = defaultdict(list)

    @property
    def is_exact(self) -> bool:
        """Whether only equal texts are found."""
        return self._find is None

    def find(self, text: str) -> int | None:
        """The number of the earlier text that this one repeats, counted from 0; None if it is new."""
        words = _normalize(text)
        if words in self._places:
            return self._places[words]
        return None if self._find is None else self._find_similar(words[:_LONGEST_COMPARED])

    def add(self, text: str) -> int:
        """Add a text; return its number."""
        words, number = _normalize(text), len(self._texts)
        compared = words[:_LONGEST_COMPARED]
        self._texts.append(compared)
        self._places.setdefault(words, number)
        if self._find is not None:
            for key in _make_keys(compared):
                self._blocks[key].append(number)
        return number

    def _find_similar(self, words: str) -> int | None:
        shared: Counter[int] = Counter()
        # What all texts of a template share matters least, so the smallest blocks come first.
        for block in sorted((self._blocks.get(key, ()) for key in _make_keys(words)), key=len):
            shared.update(block[: _MOST_SHARED - shared.total()])
        closest = sorted(shared, key=lambda number: (-shared[number], number))[:_MOST_COMPARED]
        assert self._find is not None
        while (nearest := self._find(words, [self._texts[number] for number in closest])) is not None:
            number = closest.pop(nearest)
            if not _are_opposite(words, self._texts[number]):
                return number
        return None


def _normalize(text: str) -> str:
    """The words of a text in lower case; the text itself if it has no words."""
    folded = normalize("NFKC", text).casefold()
    return " ".join(_WORDS.findall(folded)) or " ".join(folded.split())


def _are_opposite(one: str, other: str) -> bool:
    """Whether one text has a word of the other with a negating prefix."""
    words, others = set(one.split()), set(other.split())
    return any(
        word.startswith(prefix) and word.removeprefix(prefix) in plain
        for negated, plain in ((words - others, others), (others - words, words))
        for word in negated
        for prefix in _NEGATING_PREFIXES
    )


@lru_cache(maxsize=1)  # a new text is looked up, then added
def _make_keys(words: str) -> tuple[int, ...]:
    """The blocks of a text: its numbers and the count of its negations, with the bands of its signature.

    The hash is CRC-32, since Python's hashes of texts differ by process.

    Source: Li, Owen and Zhang (2012), One Permutation Hashing, NeurIPS. Empty bins borrow from the next one, as in
    Shrivastava and Li (2014).
    """
    negations = len(_NEGATIONS.findall(words))
    numbers = _hash_text(" ".join((*_NUMBERS.findall(words), f"-{negations}")))
    data = words.encode("utf-8", "surrogatepass")
    bins = [-1] * _BINS
    for index in range(max(1, len(data) - _SHINGLE + 1)):
        number = crc32(data[index : index + _SHINGLE])
        place = number % _BINS
        if bins[place] < 0 or number < bins[place]:
            bins[place] = number
    filled = bins[0]
    for place in reversed(range(2 * _BINS)):
        if bins[place % _BINS] < 0:
            bins[place % _BINS] = filled
        filled = bins[place % _BINS]
    # Tuples of numbers have the same hash in each process.
    return tuple(hash((numbers, index, *bins[index : index + _BAND])) for index in range(0, _BINS, _BAND))


def _hash_text(text: str) -> int:
    """A number that is the same in every process."""
    return crc32(text.encode("utf-8", "surrogatepass"))


def _load_rapidfuzz(similarity: float) -> _Find | None:
    try:
        from rapidfuzz import fuzz, process
    except ImportError:
        return None

    def find(text: str, others: Sequence[str]) -> int | None:
        match = process.extractOne(text, others, scorer=fuzz.ratio, score_cutoff=100 * similarity)
        return None if match is None else int(match[2])

    return find
